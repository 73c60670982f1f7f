"""`cuda-gym check`: races, stray accesses and barriers gone wrong in a CUDA program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import tyro

from cuda_gym.cli.exit_codes import ExitCode
from cuda_gym.cli.program_options import ProgramOptions

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen

__all__ = ["CheckProgram"]


@dataclass(frozen=True, kw_only=True)
class CheckProgram:
    """Run a CUDA program in a build that watches every access; no GPU is needed.

    Found are data races between threads, accesses out of bounds, reads of what was never written,
    barriers that threads of a block reach differently, warp operations whose masks do not fit,
    misaligned accesses, and host code in device memory; each with its lines and threads.

    A file without a `main` needs a small driver beside it: `cuda-gym check softmax.cu driver.cu`.

    Exit codes:
    - 0 nothing was found, and the program ended with 0
    - 1 something was found, or it does not compile
    - 2 what was typed makes no sense
    - 3 there is no compiler, or the cache cannot be written
    - 124 it was stopped at its deadline
    - any other: nothing was found, and the program ended with it
    """

    program: tyro.conf.OmitArgPrefixes[ProgramOptions]
    json: bool = False
    """Print the findings as one JSON document; what the program prints goes to the standard error."""
    arguments: tyro.conf.Suppress[tuple[str, ...]] = ()
    """What stands behind `--`."""

    def run(self, screen: Screen) -> int:
        """Build, run and report."""
        from cuda_gym.cli.finding_view import finding_lines, summary
        from cuda_gym.core.plain import as_plain
        from cuda_gym.judge.toolchains.cuda_program import check_program

        build = self.program.build(screen, checking=True)
        if build is None:
            return ExitCode.NOT_CORRECT
        ran, findings = check_program(
            build, self.arguments, deadline_s=self.program.deadline_s, is_captured=self.json
        )
        if ran.output:
            screen.note(ran.output.rstrip())
        for finding in findings:
            for line in finding_lines(finding):
                screen.show_line(line)
        screen.show_line(summary(findings, status=ran.status))
        screen.give({"status": ran.status, "findings": as_plain(findings)})
        return ExitCode.NOT_CORRECT if findings else ran.status
