"""An agent that replays a solution somebody wrote: honest, instructive, always the same.

Solutions are data, one folder a task under `solutions/`:

    model_new.py, kernels/*.cu   the files that are handed in
    script.md                    optional: what to say, turn by turn

A script is Markdown. A line of `---` ends a turn, and what stands between two of them is an action
as it is, but that a fenced block which names a file and is empty is filled with the solution's.
Without a script: read the skills, write everything and compile, verify, profile, submit.

Not covered: reacting. A script goes on whatever it is told, and submits when it has run out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable

from cuda_gym.core.episode import Action, Observation
from cuda_gym.errors import UnknownAgent

__all__ = ["ScriptedAgent", "load_solution", "solved_tasks"]

_SUITE = "core/"
_SUBMIT = '{"name": "submit", "arguments": {}}'
_EMPTY_BLOCK = re.compile(r"^```\w+ file=(\S+)\n```$", re.MULTILINE)


class ScriptedAgent:
    """Replays the script of one task."""

    def __init__(self, task_id: str) -> None:
        """Read the solution.

        Args:
            task_id: A task that has one.

        Raises:
            UnknownAgent: it has none.
        """
        self.name = "scripted"
        self._actions = _actions(task_id)
        self._turn = 0

    def reset(self, observation: Observation) -> None:  # noqa: ARG002
        """Begin at the first action again."""
        self._turn = 0

    def act(self, observation: Observation) -> Action:  # noqa: ARG002
        """The next action of the script; `submit` for ever after the last."""
        turn, self._turn = self._turn, self._turn + 1
        return self._actions[turn] if turn < len(self._actions) else Action(_SUBMIT)


def solved_tasks() -> tuple[str, ...]:
    """The ids of all tasks that have a solution."""
    folders = (entry for entry in _solutions().iterdir() if (entry / "model_new.py").is_file())
    return tuple(sorted(_SUITE + folder.name for folder in folders))


def load_solution(task_id: str) -> dict[str, str]:
    """The files of a solution by their paths in a workspace.

    Raises:
        UnknownAgent: the task has none.
    """
    folder = _folder(task_id)
    kernels = sorted((folder / "kernels").iterdir(), key=lambda entry: entry.name)
    files = {f"kernels/{entry.name}": entry.read_text("utf-8") for entry in kernels}
    return {**files, "model_new.py": (folder / "model_new.py").read_text("utf-8")}


def _solutions() -> Traversable:
    return resources.files("cuda_gym") / "agents" / "solutions"


def _folder(task_id: str) -> Traversable:
    solved = solved_tasks()
    if task_id not in solved:
        raise UnknownAgent(
            f"The scripted agent has no solution for {task_id[:200]!r}. It has some for "
            f"{', '.join(solved)}. Take one of these, or another agent."
        )
    return _solutions() / task_id.removeprefix(_SUITE)


def _actions(task_id: str) -> tuple[Action, ...]:
    files = load_solution(task_id)
    script = _folder(task_id) / "script.md"
    if not script.is_file():
        return tuple(Action(text) for text in _plain_script(files))
    turns = re.split(r"^---\n", script.read_text("utf-8"), flags=re.MULTILINE)
    return tuple(Action(_filled(turn.strip() + "\n", files)) for turn in turns)


def _plain_script(files: dict[str, str]) -> Iterator[str]:
    yield "How do kernels and Python meet here?\n" + _call("read_skill", name="launchers")
    blocks = "".join(_block(path, text) for path, text in files.items())
    yield f"One kernel, and a module that launches it.\n{blocks}{_call('compile')}"
    yield "It compiles. Is it right?\n" + _call("verify")
    yield "It is right. How fast is it?\n" + _call("profile")
    yield "Good enough.\n" + _call("submit")


def _filled(turn: str, files: dict[str, str]) -> str:
    """The turn, with the solution's text in each empty block that names a file of it."""
    return _EMPTY_BLOCK.sub(lambda match: _block(match[1], files[match[1]]).rstrip("\n"), turn)


def _block(path: str, text: str) -> str:
    language = "python" if path.endswith(".py") else "cuda"
    return f"```{language} file={path}\n{text}```\n"


def _call(name: str, /, **arguments: str) -> str:
    return "```json\n" + json.dumps({"name": name, "arguments": arguments}) + "\n```\n"
