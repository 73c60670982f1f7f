"""The host compiler's steps: sources to objects side by side, and objects to one file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import Program

__all__ = ["Steps", "build_cut_or_whole"]

Built = TypeVar("Built")
Said = tuple[int, str]
"""The exit status of one step, and what it said."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Runs the compiler in a folder, until a deadline."""

    compiler: Compiler
    folder: Path
    """Each step has a folder of its own in it, for what the compiler leaves behind."""
    deadline: float
    """In the time of `time.monotonic`."""

    def run(self, name: str, arguments: Sequence[str]) -> Said:
        """One step.

        Raises:
            CandidateTimeout: the deadline has passed.
            OSError: the folder cannot be written.
        """
        place = self.folder / name
        place.mkdir(exist_ok=True)
        left_s = max(self.deadline - time.monotonic(), 0.01)
        return self.compiler.run(arguments, folder=place, deadline_s=left_s)

    def compile_and_link(
        self, compiles: Sequence[Sequence[str]], link: Sequence[str]
    ) -> list[Said]:
        """Compile on all cores; link where all went well. Raises like `run`."""
        names = [f"compile-{number}" for number in range(len(compiles))]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            results = list(pool.map(self.run, names, compiles))
        if not any(status for status, _ in results):
            results.append(self.run("link", link))
        return results


def build_cut_or_whole(
    rewritten: Callable[[bool], Program], build: Callable[[Program], Built]
) -> tuple[Program, Built]:
    """Build with the kernels cut into phases; where the compiler refuses that, as they are written.

    What is wrong may be the cut, and what is wrong otherwise is to be told in the words of the source.

    Args:
        rewritten: The program, with its kernels cut or not.
        build: Raises CompileError where the compiler says no.
    """
    program = rewritten(True)
    try:
        return program, build(program)
    except CompileError:
        if not program.is_cut:
            raise
    program = rewritten(False)
    return program, build(program)
