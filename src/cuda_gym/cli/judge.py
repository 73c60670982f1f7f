"""`cuda-gym judge`: a Verdict on the files in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from cuda_gym.cli.exit_codes import ExitCode, code_of_verdict

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen

__all__ = ["JudgeFolder"]


@dataclass(frozen=True, kw_only=True)
class JudgeFolder:
    """Judge a folder: build, hidden draws, race against torch.compile.

    Exit codes:
    - 0 correct
    - 1 not correct, or a file of it is a link, a device or too large
    - 2 there is no such folder or device
    - 3 the machine failed, or there is nothing to judge with
    - 4 there is no such task, or it cannot be judged
    """

    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")]
    """An id of `cuda-gym tasks`, or the path of a file in KernelBench's format."""
    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """With model_new.py and kernels/, or a single file that compiles its kernels with load_inline. It is only read."""
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`, ...; `auto` is the best that can be driven here."""
    explain: bool = False
    """Tell which checks were made, and what each found."""
    json: bool = False
    """Print the Verdict as one JSON document; with --explain, the checks as well."""

    def run(self, screen: Screen) -> ExitCode:
        """Judge it."""
        from cuda_gym.cli.devices import judge_of
        from cuda_gym.cli.explanation import explain, explanation_view
        from cuda_gym.cli.screen import FIRST_RUN
        from cuda_gym.cli.submission_folder import read_submission
        from cuda_gym.cli.verdict_view import verdict_view
        from cuda_gym.core.plain import as_plain
        from cuda_gym.tasks.registry import load_task
        from cuda_gym.tasks.sizes import sized_for

        task = load_task(self.task)
        submission = read_submission(self.folder)
        judge = judge_of(self.device)
        with screen.waiting(
            f"judging on {judge.device}: build, hidden draws, race", why_long=FIRST_RUN
        ):
            verdict = judge.judge(sized_for(task, judge.device), submission)
        screen.show(verdict_view(verdict, submission))
        plain = as_plain(verdict)
        if self.explain:
            screen.show("")
            screen.show(explanation_view(verdict))
            plain = {**plain, "checks": as_plain(explain(verdict))}
        screen.give(plain)
        return code_of_verdict(verdict)
