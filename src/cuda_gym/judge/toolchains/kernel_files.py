"""The part of a submission that is compiled, and what makes it unfit to be read at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.direct_kernels import launches_directly, with_entries
from cuda_gym.judge.toolchains.header_files import HEADER_SUFFIXES

__all__ = ["check_sources", "kernel_files"]

_PATH = re.compile(r"[\w.+/-]+")
"""A compiler may hand a name to a shell: nothing that means something there."""
_LONGEST_NAME = 200
# Far above any kernel that was ever written by hand; below what could keep the rewriting busy.
_MAX_CHARACTERS = 250_000
_MAX_CONSTRUCTS = 1_000


def kernel_files(submission: Submission, *, entries: bool = True) -> dict[str, str]:
    """The `.cu` files under `kernels/` and the headers they may include, by path.

    Args:
        submission: Sources and nothing else.
        entries: Whether the files have the entries that `model_new.py` needs where it launches
            kernels itself; a build that is loaded by a driver needs none.

    Raises:
        CompileError: there is none, or one that is no source text, or too much of it.
    """
    files = {
        path: text
        for path, text in submission.files
        if path.startswith("kernels/") and path.endswith((".cu", *HEADER_SUFFIXES))
    }
    if not any(path.endswith(".cu") for path in files):
        raise CompileError(
            "There is no kernels/*.cu in the submission, so there is nothing to compile. "
            'Write a CUDA C++ file with an extern "C" launcher, such as kernels/my_kernel.cu.'
        )
    check_sources(files)
    if entries and launches_directly(submission.text("model_new.py") or ""):
        return with_entries(files)
    return files


def check_sources(files: Mapping[str, str]) -> None:
    """See to it that a compiler may be given some files.

    Args:
        files: Texts by path.

    Raises:
        CompileError: one is no source text, or they are too much.
    """
    for path, text in files.items():
        _check_text(path, text)
    size = sum(map(len, files.values()))
    constructs = sum(text.count("__global__") + text.count("<<<") for text in files.values())
    if size > _MAX_CHARACTERS or constructs > _MAX_CONSTRUCTS:
        raise CompileError(
            f"The files under kernels/ have {size:,} characters and {constructs:,} kernels and "
            f"launches; {_MAX_CHARACTERS:,} and {_MAX_CONSTRUCTS:,} are the most. Leave out what "
            "the task does not need."
        )


def _check_text(path: str, text: str) -> None:
    parts = PurePosixPath(path).parts
    if (
        not _PATH.fullmatch(path)
        or any(len(part.encode()) > _LONGEST_NAME for part in parts)
        or any(part.endswith(".cu") for part in parts[:-1])
    ):
        raise CompileError(
            f"{path!r} is no name for a source file; use letters, digits, '_' and '-'."
        )
    for fact, is_bad in (
        ("a zero byte", "\0" in text),
        ("bytes that are no UTF-8", any("\ud800" <= c <= "\udfff" for c in text)),
    ):
        if is_bad:
            diagnostic = Diagnostic(
                severity=Severity.ERROR, message=f"{fact}; sources are UTF-8 text", file=path
            )
            raise CompileError(f"{path} contains {fact}; sources are UTF-8 text.", (diagnostic,))
