"""What `run` and `check` have in common: the files of a program, and how they are built."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen
    from cuda_gym.judge.toolchains.cuda_program import ProgramBuild

__all__ = ["ProgramOptions"]

_NO_MAIN = re.compile(r"undefined (?:reference to|symbol:) [`']?main\b")
"""What linkers say of it."""


@dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """A CUDA program, and for how long it may run."""

    sources: Annotated[
        tuple[Path, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="FILE...", help_behavior_hint="(at least one)"),
    ]
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
    device: str = "cpu"
    """Only `cpu`: what a GPU runs, nvcc compiles, and compute-sanitizer checks."""

    def build(self, screen: Screen, *, checking: bool = False) -> ProgramBuild | None:
        """The program; None where it does not compile, which has then been told."""
        from cuda_gym.cli.exit_codes import UsageError
        from cuda_gym.errors import CompileError, UnsupportedOnDevice
        from cuda_gym.judge.toolchains.cuda_on_cpu.program_files import program_files
        from cuda_gym.judge.toolchains.cuda_program import build_program

        if self.device not in ("cpu", "auto"):
            raise UsageError(
                f"A program runs on the device `cpu` alone; got --device {self.device}. On a GPU "
                "compile it with nvcc, and check it with compute-sanitizer."
            )
        if self.deadline_s is not None and self.deadline_s <= 0:
            raise UsageError(f"--deadline-s is more than 0; got {self.deadline_s:g}.")
        try:
            program_files(self.sources, self.include)
        except CompileError as error:  # before anything was compiled: it is about what was named
            raise UsageError(str(error)) from None
        try:
            with screen.waiting("compiling"):
                build = build_program(
                    self.sources, include=self.include, defines=self.define, checking=checking
                )
        except (CompileError, UnsupportedOnDevice) as error:
            for diagnostic in error.diagnostics:
                screen.note(str(diagnostic))
            if not error.diagnostics:
                raise
            if any(_NO_MAIN.search(diagnostic.message) for diagnostic in error.diagnostics):
                screen.note(
                    "A program has a `main`: name a file beside it that has one, and launches the kernels."
                )
            return None
        for diagnostic in build.diagnostics:
            screen.note(str(diagnostic))
        return build
