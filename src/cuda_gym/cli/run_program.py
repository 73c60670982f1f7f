"""`cuda-gym run`: a CUDA program on this machine's processor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import tyro

from cuda_gym.cli.exit_codes import ExitCode
from cuda_gym.cli.program_options import ProgramOptions

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen

__all__ = ["RunProgram"]


@dataclass(frozen=True, kw_only=True)
class RunProgram:
    """Compile a CUDA program for this machine's processor, and run it: no GPU is needed.

    What stands behind `--` are the program's own arguments: `cuda-gym run saxpy.cu -- 1000 2.5`.

    Exit codes:
    - 0 the program ended with 0; any other status of its own is passed on
    - 1 it does not compile, or it uses what the cpu device has not
    - 2 what was typed makes no sense
    - 3 there is no compiler, or the cache cannot be written
    - 124 it was stopped at its deadline
    - 139 a fault; the kernel, the block and the thread are told
    """

    program: tyro.conf.OmitArgPrefixes[ProgramOptions]
    arguments: tyro.conf.Suppress[tuple[str, ...]] = ()
    """What stands behind `--`."""

    def run(self, screen: Screen) -> int:
        """Build and run it."""
        from cuda_gym.judge.toolchains.cuda_program import run_program

        build = self.program.build(screen)
        if build is None:
            return ExitCode.NOT_CORRECT
        ran = run_program(
            build, self.arguments, deadline_s=self.program.deadline_s, is_captured=False
        )
        if ran.has_missed_deadline:
            screen.note(ran.output.rstrip())
        return ran.status
