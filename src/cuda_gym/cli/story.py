"""An episode told to somebody who has never seen one."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from cuda_gym.agents.scripted import solved_tasks
from cuda_gym.cli.screen import Screen
from cuda_gym.cli.submission_folder import read_submission
from cuda_gym.cli.verdict_view import verdict_view
from cuda_gym.cli.watch import call_text, read_action
from cuda_gym.core.device import Device
from cuda_gym.core.episode import Action, Episode, Stage, Turn
from cuda_gym.core.task import Task
from cuda_gym.envs.actions import ToolCall
from cuda_gym.judge.profiling.gpus import find_gpu

__all__ = ["Story"]

_THEME = "ansi_dark"
_FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_MAX_LINES = {"read_skill": 8, "list_files": 12, "read_file": 12}
"""How much of a long answer is shown, by tool; of the others, everything."""
_MAX_OTHER_LINES = 60
_CAPTIONS = {
    "read_skill": "The agent may read short lessons before it writes.",
    "compile": "The judge checks the files against the rules and compiles them.",
    "edit_file": "The agent changes a file in one place.",
    "verify": "The judge runs the kernel in a sandbox, on inputs that the agent never sees.",
    "profile": "The judge races it against torch.compile, in turns, on inputs that are new each time.",
    "submit": "The agent hands in. The best files are judged afresh, and only that pays.",
}
"""What a stranger needs to know the first time that a tool is called."""


class Story:
    """Tells an episode while it is played.

    Args:
        screen: Where to.
        task: What is played.
        device: Where.
        max_turns: The budget.
    """

    def __init__(self, screen: Screen, task: Task, device: Device, *, max_turns: int) -> None:
        self._screen = screen
        self._task = task
        self._device = device
        self._max_turns = max_turns
        self._explained: set[str] = set()

    def begin(self) -> None:
        """What is about to happen, and the task."""
        show = self._screen.show
        show(Text("One episode of cuda_gym", "bold"))
        show(
            Text(
                "An agent is given a PyTorch module and writes CUDA C++ that computes the same. A "
                "judge compiles it, proves it right on hidden inputs, and times it against what "
                "torch.compile makes of the module. The reward is the verified speed-up."
            )
        )
        show(Text(f"{_where(self._device)} The agent is a script, so that you see a good game."))
        show(
            Rule(Text(f"The task: {self._task.title} ({self._task.id})", "bold cyan"), align="left")
        )
        show(_code(self._task.source, "model.py"))

    def turn(self, number: int, action: Action, turn: Turn | None) -> None:
        """What the agent does; then, what it is told."""
        if turn is None:
            self._show_action(number, action)
        elif turn.observation.stage is not Stage.SETTLED:  # what settles is told at the end
            self._show_answer(turn)

    def end(self, episode: Episode, folder: Path) -> None:
        """The Verdict, the reward, the files, and where to go from here."""
        show = self._screen.show
        show(Rule(Text("The Verdict", "bold cyan"), align="left"))
        if episode.void is not None:
            show(
                Text(
                    f"The episode is void, through no fault of the agent: {episode.void}", "yellow"
                )
            )
        elif episode.verdict is None:
            show(Text("Nothing was handed in.", "bold red"))
        else:
            show(verdict_view(episode.verdict, read_submission(folder)))
        show(Text())
        show(
            Text.assemble(
                "The episode paid ",
                (f"{episode.total_reward:.3f}", "bold"),
                ": the speed-up over torch.compile, as it was verified last.",
            )
        )
        self._screen.show_line(Text(f"The files are kept in {folder}"))
        for path in _files(folder):
            self._screen.show_line(Text(f"  {path}", "dim"))
        show(Text())
        show(Text("Next", "bold"))
        for line in _next_lines(self._task, folder):
            self._screen.show_line(line)

    def _show_action(self, number: int, action: Action) -> None:
        show = self._screen.show
        read = read_action(action)
        tool = "" if read.call is None else read.call.name
        steps = [f"write {write.path}" for write in read.writes] + ([tool] if tool else [])
        title = f"Turn {number} of {self._max_turns}: {', '.join(steps)}"
        show(Rule(Text(title, "bold cyan"), align="left"))
        if tool not in self._explained and tool in _CAPTIONS:
            show(Text(_CAPTIONS[tool], "dim italic"))
            self._explained.add(tool)
        prose = _FENCE.sub("", action.text).strip()
        if prose:
            show(Text(" ".join(prose.split())))
        for write in read.writes:
            show(_code(write.content, write.path))
        if read.call is not None:
            show(_call(read.call))

    def _show_answer(self, turn: Turn) -> None:
        call = read_action(turn.action).call
        limit = _MAX_LINES.get("" if call is None else call.name, _MAX_OTHER_LINES)
        lines = _answer_lines(turn.observation.text)
        shown = [_answer_line(line) for line in lines[:limit]]
        if len(lines) > limit:
            shown.append(Text(f"... and {len(lines) - limit} more lines", "dim"))
        title = f"{turn.observation.stage.value}, reward {turn.reward:+.3f}"
        self._screen.show(
            Panel(Group(*shown), title=Text(title, "dim"), title_align="left", border_style="dim")
        )


def _where(device: Device) -> str:
    if device.kind == "cpu":
        return (
            "It runs on the device `cpu`: the same CUDA C++, compiled for this machine's processor "
            "and really run there; the times are CPU times."
        )
    return f"It runs on the device `{device}`: {find_gpu(device).description}."


def _code(source: str, path: str) -> Panel:
    language = "python" if path.endswith(".py") else "cuda"
    syntax = Syntax(
        source.strip("\n"), language, theme=_THEME, background_color="default", word_wrap=True
    )
    return Panel(syntax, title=Text(path, "dim"), title_align="left", border_style="dim")


def _call(call: ToolCall) -> Text | Group:
    """The call as code; an edit as what goes and what comes."""
    old, new = call.arguments.get("old"), call.arguments.get("new")
    if not (isinstance(old, str) and isinstance(new, str)):
        return Text(f"> {call_text(call)}", "bold")
    lines = [Text(f"> {call.name}: {call.arguments.get('path')}", "bold")]
    lines += [Text(f"- {line}", "red") for line in old.splitlines()]
    lines += [Text(f"+ {line}", "green") for line in new.splitlines()]
    return Group(*(Padding(line, (0, 0, 0, 0 if i == 0 else 2)) for i, line in enumerate(lines)))


def _answer_lines(text: str) -> list[str]:
    """Without the advice to the agent and the count of turns."""
    lines = text.rstrip().splitlines()
    lines = [line for line in lines if not line.startswith(("Next: ", "Turns left: "))]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _answer_line(line: str) -> Text:
    if ": error: " in line or line.lstrip().startswith(("failed:", "Wrong ")):
        return Text(line, "bold red")
    if ": warning: " in line:
        return Text(line, "yellow")
    return Text(line)


def _files(folder: Path) -> list[str]:
    """The files by their paths in the folder; the lock is nobody's business."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(str(path.relative_to(folder)) for path in paths)


def _next_lines(task: Task, folder: Path) -> tuple[Text, Text]:
    other = next(id for id in solved_tasks() if id != task.id)
    return (
        Text.assemble(
            "  change a kernel and judge it:    ", (f"cuda-gym judge {task.id} {folder}", "cyan")
        ),
        Text.assemble(
            "  watch an agent on another task:  ",
            (f"cuda-gym play --task {other}", "cyan"),
            " (",
            ("cuda-gym tasks", "cyan"),
            " lists them)",
        ),
    )
