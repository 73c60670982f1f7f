"""An episode as a page in Markdown: what was said, written, answered and paid, turn by turn.

A file is shown whole when it is written first, and as its difference afterwards. What an agent reads
(the first observation, skills) is folded away or left out, since the page is about what it does with it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator

from cuda_gym.cli.watch import call_text, read_action
from cuda_gym.core.episode import Episode, Turn
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.envs.actions import ToolCall
from cuda_gym.envs.feedback.words import describe_time

__all__ = ["episode_page"]

_FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"<tool_call>.*?(?:</tool_call>|\Z)", re.DOTALL)
_READING = ("read_skill", "read_file", "list_files", "search")
_Fold = Callable[[str, str], str]
"""What stands for a text that is only read: made of one line on it, and of the text."""
_MAX_OPEN_LINES = 12
"""A longer answer to a tool that reads is folded away."""


def episode_page(episode: Episode, *, title: str = "", with_reading: bool = True) -> str:
    """The page.

    Args:
        episode: What was played.
        title: The heading; the task's id where there is none.
        with_reading: Whether what the agent only reads is in it, folded away; else its first line is.
    """
    fold = _folded if with_reading else _left_out
    parts = [
        f"# {title or episode.task_id}",
        _summary(episode),
        "## What the agent is told first",
        fold("The first observation", episode.first.text),
    ]
    files: dict[str, str] = {}
    for number, turn in enumerate(episode.turns, start=1):
        parts += _turn(number, turn, files, fold)
    parts += ["## The Verdict", _ending(episode)]
    return "\n\n".join(parts) + "\n"


def _summary(episode: Episode) -> str:
    """One sentence: who, on what, where, how it ended."""
    verdict, count = episode.verdict, len(episode.turns)
    end = "with nothing handed in"
    if episode.void is not None:
        end = "void"
    elif verdict is not None:
        speed = "" if verdict.timing is None else f", {verdict.timing.speedup:.2f}x torch.compile"
        end = f"{verdict.outcome.value}{speed}"
    return (
        f"Task `{episode.task_id}`, agent `{episode.agent}`, device `{episode.device}`: {count} "
        f"turn{'' if count == 1 else 's'}, {end}, {episode.total_reward:.3f} paid."
    )


def _turn(number: int, turn: Turn, files: dict[str, str], fold: _Fold) -> Iterator[str]:
    """One turn; `files` holds what was written so far, and is brought up to date."""
    action = read_action(turn.action)
    call = action.call
    steps = [f"write {write.path}" for write in action.writes]
    steps += [] if call is None else [call.name]
    yield f"## Turn {number}: {', '.join(steps) or 'nothing that can be read'}"
    if not steps:
        yield _block(turn.action.text)
    elif prose := _prose(turn.action.text):
        yield prose
    for write in action.writes:
        yield _file(write.path, write.content, files)
    if call is not None:
        yield _call(call, files)
    yield f"*Answer: {turn.observation.stage.value}, reward {turn.reward:+.3f}*"
    yield _answer(turn, "" if call is None else call.name, fold)


def _prose(text: str) -> str:
    """What an agent said around its files and its call."""
    said = _CALL.sub("", _FENCE.sub("", text)).strip()
    return "" if said.startswith("{") else " ".join(said.split())


def _file(path: str, content: str, files: dict[str, str]) -> str:
    """A file that is written: whole the first time, then what is new in it."""
    old = files.get(path)
    files[path] = content
    if old is None:
        language = "python" if path.endswith(".py") else "cuda"
        return f"`{path}`\n\n{_block(content, language)}"
    return _difference(path, old, content)


def _call(call: ToolCall, files: dict[str, str]) -> str:
    """The call as code; an edit or a write as what becomes of the file."""
    path, content = call.arguments.get("path"), call.arguments.get("content")
    if call.name == "write_file" and isinstance(path, str) and isinstance(content, str):
        return _file(path, content, files)
    old, new = call.arguments.get("old"), call.arguments.get("new")
    if call.name != "edit_file" or not (isinstance(old, str) and isinstance(new, str)):
        return _block(call_text(call), "python")
    before = files.get(str(path), old)
    after = before.replace(old, new)
    if str(path) in files:
        files[str(path)] = after
    return _difference(str(path), before, after)


def _difference(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    body = [line for line in lines if not line.startswith(("---", "+++"))]
    return f"`{path}` changes:\n\n{_block(chr(10).join(body), 'diff')}"


def _answer(turn: Turn, tool: str, fold: _Fold) -> str:
    text = turn.observation.text
    if tool in _READING and text.count("\n") > _MAX_OPEN_LINES:
        return fold(text.split("\n", 1)[0].strip("# "), text)
    return _block(text)


def _folded(summary: str, text: str) -> str:
    return (
        f'<details markdown="1"><summary>{summary} ({len(text):,} characters)</summary>\n\n'
        f"{_block(text)}\n\n</details>"
    )


def _left_out(summary: str, text: str) -> str:
    return f"{summary} ({len(text):,} characters)"


def _block(text: str, language: str = "text") -> str:
    """A fenced block, with a fence that the text does not close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def _ending(episode: Episode) -> str:
    if episode.void is not None:
        return f"The episode is void: {episode.void}"
    if episode.verdict is None:
        return "Nothing was handed in."
    verdict = episode.verdict
    rows = [("outcome", verdict.outcome.value), ("in words", verdict.summary)]
    if verdict.timing is not None:
        rows += _times(verdict.timing)
    rows += _conditions(verdict)
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _times(timing: Timing) -> Iterator[tuple[str, str]]:
    interval = f"{timing.speedup_low:.2f} to {timing.speedup_high:.2f}"
    yield "speed-up over torch.compile", f"{timing.speedup:.2f}x, 95 % interval {interval}"
    yield "time of the submission", describe_time(timing.time_us)
    yield "time of torch.compile", describe_time(timing.compile_us)
    if timing.eager_us is not None:
        yield "time of eager", describe_time(timing.eager_us)


def _conditions(verdict: Verdict) -> Iterator[tuple[str, str]]:
    found = verdict.findings
    if found.draws:
        passed = sum(draw.passed for draw in found.draws)
        yield "hidden draws", f"{passed} of {len(found.draws)} passed"
    if found.memory is not None:
        yield "memory check", f"{len(found.memory)} findings" if found.memory else "clean"
    if verdict.fingerprint is not None:
        yield "hardware", verdict.fingerprint.device
        yield "compiled by", verdict.fingerprint.toolchain
        yield "torch", verdict.fingerprint.torch
