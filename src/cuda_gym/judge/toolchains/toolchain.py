"""What turns a submission's sources into something that runs, whatever the device."""

from __future__ import annotations

from typing import Protocol

from cuda_gym.core.findings import Build, MemoryFinding
from cuda_gym.core.task import Submission


class Toolchain(Protocol):
    """One way to compile CUDA C++; one file beside this one each."""

    @property
    def name(self) -> str:
        """Name and version, as the fingerprint and `doctor` show it: `g++ 12.2.0 (cuda_on_cpu 1)`.

        Raises:
            MissingTool: where there is no compiler, with how to get one.
        """
        ...

    def build(
        self, submission: Submission, *, deadline_s: float = 60.0, checking: bool = False
    ) -> Build:
        """Compile every `kernels/*.cu` of a submission into one shared library, or find it in the cache.

        Args:
            submission: Sources and nothing else.
            deadline_s: How long the compiler may take.
            checking: Whether the library is to look for races and stray accesses while it runs.

        Raises:
            CompileError: the compiler said no; carries the diagnostics.
            UnsupportedOnDevice: right CUDA that this device cannot run; `file:line` in each diagnostic.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: no compiler.
            StorageError: the cache cannot be written.
        """
        ...

    def own_kernels(self) -> str:
        """Path of machine code that the judge itself runs on the device; empty where that is none.

        Raises:
            MissingTool: no compiler for the device is found.
            StorageError: the cache cannot be written.
        """
        ...

    def read_findings(self, build: Build, text: str) -> tuple[MemoryFinding, ...]:
        """What a checking build has written, with lines of the submission."""
        ...
