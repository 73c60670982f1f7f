"""`cuda-gym run`: a CUDA program on this machine's processor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from cuda_gym.cli.exit_codes import ExitCode

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

    sources: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE...")]
    """`.cu` files, and `.cpp`, `.cc` and `.c` files that belong to them; headers are found."""
    include: Annotated[
        tuple[Path, ...],
        tyro.conf.UseAppendAction,
        tyro.conf.arg(aliases=("-I",), metavar="FOLDER"),
    ] = ()
    """A folder to look for headers in; may be given again."""
    define: Annotated[
        tuple[str, ...],
        tyro.conf.UseAppendAction,
        tyro.conf.arg(aliases=("-D",), metavar="NAME=VALUE"),
    ] = ()
    """A macro; may be given again."""
    deadline_s: float | None = None
    """How many seconds the program may take; by default it is not stopped."""
    arguments: tyro.conf.Suppress[tuple[str, ...]] = ()
    """What stands behind `--`."""

    def run(self, screen: Screen) -> int:
        """Build and run it."""
        from cuda_gym.cli.exit_codes import UsageError
        from cuda_gym.errors import CompileError, UnsupportedOnDevice
        from cuda_gym.judge.toolchains.cuda_program import build_program, run_program

        if self.deadline_s is not None and self.deadline_s <= 0:
            raise UsageError(f"--deadline-s is more than 0; got {self.deadline_s:g}.")
        try:
            with screen.waiting("compiling"):
                build = build_program(self.sources, include=self.include, defines=self.define)
        except (CompileError, UnsupportedOnDevice) as error:
            for diagnostic in error.diagnostics:
                screen.note(str(diagnostic))
            if not error.diagnostics:
                raise
            return ExitCode.NOT_CORRECT
        for diagnostic in build.diagnostics:
            screen.note(str(diagnostic))
        ran = run_program(build, self.arguments, deadline_s=self.deadline_s, is_captured=False)
        if ran.has_missed_deadline:
            screen.note(ran.output.rstrip())
        return ran.status
