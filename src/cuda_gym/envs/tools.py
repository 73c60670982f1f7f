"""The ten tools of an episode, as typed methods; their JSON schemas are made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.actions import ToolCall
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.envs.search import MAX_HITS, search
from cuda_gym.envs.signatures import arguments_model, checked_arguments, tool_schema
from cuda_gym.envs.skills import describe_shelf, describe_skill, skills
from cuda_gym.envs.workspace import Workspace
from cuda_gym.errors import BadAction, WorkerLost, WorkspaceError, did_you_mean

__all__ = [
    "TOOL_NAMES",
    "Reply",
    "SessionJudge",
    "Tools",
    "judge_steadily",
    "tool_schemas",
]

TOOL_NAMES = (
    "read_skill",
    "list_files",
    "read_file",
    "write_file",
    "edit_file",
    "search",
    "compile",
    "verify",
    "profile",
    "submit",
)
"""In the order in which agents are told of them."""

Result = TypeVar("Result", Findings, Verdict)


class SessionJudge(Protocol):
    """What a session needs of a judge. Safe to call from several threads.

    Nothing raises for anything that a submission does: the outcome says it.
    """

    @property
    def device(self) -> Device:
        """Where it judges."""
        ...

    def warm(self, task: Task) -> None:
        """Prepare workers and baselines in the background; returns at once."""
        ...

    def compile(self, task: Task, submission: Submission) -> Findings:
        """Build, run nothing."""
        ...

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        """Run on hidden inputs, and watch every access of one run: `memory` does only the latter."""
        ...

    def judge(self, task: Task, submission: Submission, *, counters: bool = False) -> Verdict:
        """Verify and time, on fresh secret seeds each time; `counters` adds the hardware's."""
        ...

    def close(self) -> None:
        """Let go of all workers."""
        ...


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a tool answers."""

    text: str = ""
    said: tuple[str, ...] = ()
    """What stands before the text: which files were written, what was ignored."""
    submission: Submission | None = None
    """The files that were compiled, verified or timed."""
    findings: Findings | None = None
    verdict: Verdict | None = None
    ends: bool = False
    """Whether the agent wants to settle now."""
    tool: str | None = None
    """The tool that was called; None where only files were written, or nothing was understood."""
    void: str | None = None
    """What the machine failed at; None where it did not."""


class Tools:
    """The tools at one desk: a workspace, a task, a judge."""

    def __init__(self, *, workspace: Workspace, task: Task, judge: SessionJudge) -> None:
        self._workspace = workspace
        self._task = task
        self._judge = judge

    def call(self, call: ToolCall) -> Reply:
        """Run a tool by name.

        Raises:
            AgentError: there is no such tool, its arguments do not fit, or it says no.
            TaskError: the task cannot be judged.
            MachineError: the machine failed, twice where a second attempt made sense.
        """
        if call.name not in TOOL_NAMES:
            raise BadAction(
                f"There is no tool {call.name[:60]!r}.{did_you_mean(call.name, TOOL_NAMES, most=1)} "
                f"The tools are {', '.join(TOOL_NAMES)}."
            )
        arguments = checked_arguments(_models()[call.name], call.arguments)
        method: Callable[..., Reply] = getattr(self, call.name)
        return method(**arguments)

    def read_skill(self, name: str | None = None) -> Reply:
        """Read a skill: rules, numbers, complete examples; without a name, the list of all.

        Args:
            name: Which skill to read.
        """
        kind = self._judge.device.kind
        if name is None:
            return Reply(text=describe_shelf(skills(), kind))
        return Reply(text=describe_skill(skills(), name, kind))

    def list_files(self) -> Reply:
        """List all files and their sizes."""
        lines = [
            f"{entry.path}  {entry.num_bytes:,} bytes{'' if entry.editable else '  (fixed)'}"
            for entry in self._workspace.entries()
        ]
        return Reply(text="\n".join(lines))

    def read_file(
        self, path: str, first_line: int | None = None, last_line: int | None = None
    ) -> Reply:
        """Read a file, or some of its lines.

        Args:
            path: As model.py or kernels/x.cu.
            first_line: The first to show, from 1.
            last_line: The last to show.
        """
        lines = self._workspace.read(path).split("\n")
        if lines[-1] == "":
            lines.pop()
        first = max(1, first_line or 1)
        last = min(len(lines), len(lines) if last_line is None else last_line)
        if lines and first > last:
            raise WorkspaceError(
                f"{path!r} has {len(lines)} lines; {first} to {last} is none of them."
            )
        return Reply(
            text=f"{path}, lines {first} to {last} of {len(lines)}:\n"
            + "\n".join(lines[first - 1 : last])
        )

    def write_file(self, path: str, content: str) -> Reply:
        """Write a whole file: model_new.py, or a source under kernels/.

        Args:
            path: As kernels/x.cu.
            content: The whole text.
        """
        self._workspace.write(path, content)
        return Reply(text=f"Wrote {path} ({len(content):,} characters).")

    def edit_file(self, path: str, old: str, new: str, replace_all: bool = False) -> Reply:
        """Replace a text that occurs once in a file.

        Args:
            path: As kernels/x.cu.
            old: The present text, exactly; long enough to occur once.
            new: What takes its place.
            replace_all: Replace it wherever it occurs.
        """
        count = self._workspace.edit(path, old, new, replace_all=replace_all)
        return Reply(text=f"Replaced {count} place{'s' if count > 1 else ''} in {path}.")

    def search(self, pattern: str) -> Reply:
        """Search all files, line by line.

        Args:
            pattern: A regular expression, or plain text.
        """
        files = {e.path: self._workspace.read(e.path) for e in self._workspace.entries()}
        hits = search(pattern, files)
        lines = [f"{hit.path}:{hit.line}: {hit.text}" for hit in hits[:MAX_HITS]]
        more = ["... and more; use a narrower pattern."] if len(hits) > MAX_HITS else []
        return Reply(text="\n".join([*lines, *more]) or f"Nothing matches {pattern!r}.")

    def compile(self) -> Reply:
        """Compile and run nothing: errors, warnings, what each kernel takes of the device.

        verify and profile compile too.
        """
        submission = self._workspace.freeze()
        findings = judge_steadily(lambda: self._judge.compile(self._task, submission))
        return _reply(findings, submission)

    def verify(self, check: Literal["values", "memory"] = "values") -> Reply:
        """Compile, compare with the reference on hidden inputs, and look for races and stray accesses.

        Args:
            check: `values` compares outputs, and on cpu looks at memory too; `memory` looks for races
                and accesses out of bounds only.
        """
        submission = self._workspace.freeze()
        findings = judge_steadily(lambda: self._judge.verify(self._task, submission, check=check))
        reply = _reply(findings, submission)
        # Clean memory says nothing about values, and a device without the check nothing at all.
        return reply if check == "values" else replace(reply, submission=None)

    def profile(self, detail: Literal["times", "counters"] = "times") -> Reply:
        """Verify, then time against torch.compile and eager. Only this and submit pay.

        Args:
            detail: `counters` adds the device's performance counters.
        """
        submission = self._workspace.freeze()
        is_detailed = detail == "counters"
        verdict = judge_steadily(
            lambda: self._judge.judge(self._task, submission, counters=is_detailed)
        )
        why = "" if verdict.profile is None else verdict.profile.no_counters
        note = f"{why.rstrip('.')}; these are the times." if is_detailed and why else ""
        return Reply(text=note, submission=submission, findings=verdict.findings, verdict=verdict)

    def submit(self) -> Reply:
        """End the episode; the best submission counts."""
        return Reply(ends=True)


def judge_steadily(attempt: Callable[[], Result]) -> Result:
    """The outcome of an attempt; a machine error gets one more.

    Raises:
        WorkerLost: the machine failed twice.
    """
    for _ in range(2):
        result = attempt()
        if result.outcome is not Outcome.MACHINE_ERROR:
            return result
    raise WorkerLost(f"The machine failed twice: {result.summary}")


@cache
def _schemas() -> tuple[dict[str, Any], ...]:
    return tuple(tool_schema(getattr(Tools, name)) for name in TOOL_NAMES)


def tool_schemas() -> list[dict[str, Any]]:
    """All tools in OpenAI's function format, ready for `json.dumps`.

    >>> [schema["function"]["name"] for schema in tool_schemas()][:3]
    ['read_skill', 'list_files', 'read_file']
    """
    return [dict(schema) for schema in _schemas()]


def _reply(findings: Findings, submission: Submission) -> Reply:
    text = describe_findings(findings, submission)
    return Reply(text=text, submission=submission, findings=findings)


@cache
def _models() -> Mapping[str, type[BaseModel]]:
    return {name: arguments_model(getattr(Tools, name)) for name in TOOL_NAMES}
