"""What is to be computed, and what is handed in for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from pathlib import PurePosixPath

from cuda_gym.core.device import Device
from cuda_gym.core.plain import digest

__all__ = ["Band", "Roofline", "Submission", "Task"]

_MARK = "\ufeff"
"""U+FEFF, which compilers skip where they read bytes, and refuse in a text that is decoded already."""


@unique
class Band(Enum):
    """How hard a task is."""

    EASY = "easy"
    """One kernel, no cooperation between threads needed."""
    MEDIUM = "medium"
    """Threads share work: reductions, tiles."""
    HARD = "hard"
    """Several stages, or a fight with a tuned library."""


@unique
class Roofline(Enum):
    """What bounds the best possible kernel of a task."""

    MEMORY = "memory"
    """Bytes: each is read or written once, and little is computed with it."""
    COMPUTE = "compute"
    """Arithmetic: every byte is used again and again, as in a product of matrices."""
    LATENCY = "latency"
    """Neither: a chain of steps that wait for each other."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A reference PyTorch module, its inputs, and the rules it is judged by."""

    id: str
    """`suite/name`, as on the command line: `core/softmax`, `kernelbench/level1/19`."""
    source: str
    """Python in KernelBench's format: `class Model`, `get_inputs()`, `get_init_inputs()`."""
    title: str
    """One line for a human."""
    family: str = "other"
    """What kind of computation: `softmax`, `reduction`, `matmul`, ..."""
    band: Band | None = None
    """None where nobody has said."""
    roofline: Roofline | None = None
    """None where nobody has said."""
    library: tuple[str, ...] = ()
    """The calls of `cuda_extension.library` that are allowed: `gemm`, `bmm`, `conv`."""
    allow_tf32: bool = False
    """Whether both sides may use TF32 matrix units."""
    sizes: tuple[tuple[str, str, int], ...] = ()
    """(kind of device, name of a constant, its value there), where a device wants other sizes."""

    @property
    def hash(self) -> str:
        """Content hash of all that decides a Verdict; the title and the id do not."""
        return digest(["task", self.source, sorted(self.library), self.allow_tf32])

    def sizes_on(self, device: Device) -> dict[str, int]:
        """The constants that have another value on a device."""
        return {name: value for kind, name, value in self.sizes if kind == device.kind}


@dataclass(frozen=True)
class Submission:
    """A frozen snapshot of what the agent may edit.

    >>> s = Submission.of({"model_new.py": "class ModelNew: ...", "kernels/a.cu": ""})
    >>> s.paths
    ('kernels/a.cu', 'model_new.py')
    """

    files: tuple[tuple[str, str], ...]
    """(path, text), sorted by path; paths are relative to the workspace, with `/`."""

    @classmethod
    def of(cls, files: Mapping[str, str]) -> Submission:
        """Freeze a mapping from path to text, without the mark that some editors put in front of it.

        Raises:
            ValueError: where a path is absolute or leaves the workspace.
        """
        for path in files:
            parts = PurePosixPath(path).parts
            if not parts or path.startswith("/") or ".." in parts:
                raise ValueError(f"{path!r} is no path inside a workspace.")
        return cls(tuple(sorted((path, text.removeprefix(_MARK)) for path, text in files.items())))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(path for path, _ in self.files)

    @property
    def hash(self) -> str:
        """Content hash of all files."""
        return digest(["submission", self.files])

    def text(self, path: str) -> str | None:
        """The text of one file; None where there is none."""
        return dict(self.files).get(path)
