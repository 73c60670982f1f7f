"""The files of a whole program: its sources, and every local header that they lead to.

Covered: quoted and angled includes, other folders (`../common/x.h`), include folders, `#include
"x.cu"`, text that is no UTF-8. Not covered: names computed by macros; the compiler finds those files
where they lie, as they are. A header that this device has itself is never taken from an include
folder, so that the headers of an installed CUDA toolkit do no harm.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_source import Source

__all__ = ["CUDA_SUFFIXES", "SOURCE_SUFFIXES", "ProgramFile", "program_files"]

CUDA_SUFFIXES = (".cu",)
SOURCE_SUFFIXES = (*CUDA_SUFFIXES, ".cpp", ".cc", ".cxx", ".c")
"""Of files that are compiled one by one."""
_OWN_HEADERS = Path(__file__).parent / "include"
# The largest libraries in one header have 2.5 million. What is larger is data, and belongs into a file
# that is read when the program runs.
_MAX_CHARACTERS = 3_000_000
_MAX_CHARACTERS_IN_ALL = 8_000_000
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(?P<what><[^>\n]*>|"[^"\n]*")', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ProgramFile:
    """One file, and what stands in it."""

    path: Path
    """Absolute."""
    name: str
    """As diagnostics tell it: from the current folder, where it lies below that."""
    text: str
    """Bytes that are no UTF-8 are kept as surrogates."""
    is_source: bool
    """Whether it is compiled by itself."""

    @property
    def is_cuda(self) -> bool:
        """Whether it is compiled by itself, as CUDA C++."""
        return self.is_source and self.path.suffix in CUDA_SUFFIXES


def program_files(sources: Sequence[Path], include: Sequence[Path] = ()) -> tuple[ProgramFile, ...]:
    """The sources in their order, then the headers.

    Raises:
        CompileError: there is no source, one cannot be read or has an unknown suffix, or they are
            too large.
    """
    if not sources:
        raise CompileError("There is nothing to compile: name at least one .cu file.")
    found: dict[Path, ProgramFile] = {}
    for source in sources:
        if source.suffix not in SOURCE_SUFFIXES:
            known = ", ".join(SOURCE_SUFFIXES)
            raise CompileError(f"{source} is no source file; the suffixes of those are {known}.")
        file = _read(_absolute(source), is_source=True)
        found[file.path] = file
    folders = [_absolute(folder) for folder in include]
    pending = list(found.values())
    while pending:
        file = pending.pop()
        for path in _headers(file, folders):
            if path not in found:
                found[path] = _read(path, is_source=False)
                pending.append(found[path])
        _check_size(found.values())
    return tuple(found.values())


def _headers(file: ProgramFile, folders: Sequence[Path]) -> Iterator[Path]:
    masked = Source(file.name, file.text).masked
    for match in _INCLUDE.finditer(masked):
        quoted = file.text[match.start("what") : match.end("what")]
        name = quoted[1:-1].strip()
        beside = _absolute(file.path.parent / name)
        if quoted.startswith('"') and beside.is_file():
            yield beside
        elif not (_OWN_HEADERS / name).is_file():
            anywhere = (_absolute(folder / name) for folder in folders)
            if (path := next((path for path in anywhere if path.is_file()), None)) is not None:
                yield path


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 -- links are kept: a header lies beside its link


def _read(path: Path, *, is_source: bool) -> ProgramFile:
    try:
        if (size := path.stat().st_size) > _MAX_CHARACTERS:
            raise CompileError(_too_large(f"{path} has {size:,} bytes", _MAX_CHARACTERS))
        # A mark of the byte order would no longer be the first thing in the file.
        text = path.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    except OSError as error:
        raise CompileError(
            f"{path} cannot be read: {error.strerror or error}. Correct the name or its permissions."
        ) from error
    return ProgramFile(path=path, name=_shown(path), text=text, is_source=is_source)


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _check_size(files: Iterable[ProgramFile]) -> None:
    size = sum(len(file.text) for file in files)
    if size > _MAX_CHARACTERS_IN_ALL:
        fact = f"The sources and their headers have {size:,} characters"
        raise CompileError(_too_large(fact, _MAX_CHARACTERS_IN_ALL))


def _too_large(fact: str, most: int) -> str:
    return f"{fact}; {most:,} are the most. Read tables of data from a file when the program runs."
