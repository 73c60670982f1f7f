"""The code that computes for torch and NumPy, closed while a submission is judged: it can be read and not run.

    zygote      finds what is to be closed, and tries in a child whether the harness does without
    candidate   closes it once the model stands; from before the submission was imported on, the kernel
                lets it make no memory executable (`limits.forbid_new_code`), so that it stays closed
    judge       looks from outside whether it is closed (`code_from_outside`)

The refusal of torch's operators works by objects that a submission can reach: whoever keeps it from being
applied, or took a kernel out of torch's table before, has torch compute. What is closed here is closed by
the processor's page tables, and who opens them is the kernel. A process that runs closed code ends.

Covered: the kernels of torch's operators on the CPU by the table of each operator (elementwise,
reductions, softmax, normalisation, pooling, sorting, attention), MKL (products, transforms, vector mathematics), fbgemm
(sums of embeddings, products of whole numbers), the BLAS of NumPy, and through `forbid_new_code` all that
compiles while it runs (oneDNN, fbgemm). Of filling, which is allowed, nothing is closed, and no page on
which lies a function that other code may call.

Not covered: operators written out without a table (indexing, embeddings, copies), NumPy's own loops, a
processor or a build of torch whose tables are not found: then less is closed, and nothing is refused for that.
Where a task allows the library nothing is closed: it computes by the same code.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

from cuda_gym.judge.sandbox.code_from_outside import (
    CodeRange,
    ExecutableMapping,
    executable_mappings,
)

__all__ = ["close_code", "find_code"]

_libc = ctypes.CDLL(None, use_errno=True)
_SYMBOL = struct.Struct("<IBBHQQ")
"""Name, info, other, section, value and size, as ELF has them for 64 bits."""
_OBJECT, _FUNCTION = 1, 2
_PAGE = mmap.PAGESIZE


def find_code() -> tuple[CodeRange, ...]:
    """What processes forked from this one are to close; nothing where they could not live with that.

    It takes half a second, and a child to try it in.
    """
    global _to_close
    ranges = _found()
    _to_close = ranges if ranges and _lives_without(ranges) else ()
    return _to_close


def close_code() -> None:
    """Let nothing of what was found before this process was forked run any more.

    Raises:
        OSError: the kernel did not do it.
    """
    _close(_to_close)


_to_close: tuple[CodeRange, ...] = ()


class _Symbol(NamedTuple):
    name: bytes
    start: int
    end: int


class _Library(NamedTuple):
    """Functions of a library that lie together and only compute."""

    file: str
    """Is part of the file's name."""
    table: str
    """Of symbols."""
    beginnings: tuple[bytes, ...]
    """Of the functions' names."""
    except_for: tuple[bytes, ...]
    """Beginnings of those that set up threads and memory."""
    least_bytes: int
    """Of a run of them: shorter ones may be in between of something else."""


_LIBRARIES = (
    _Library(
        "libtorch_cpu.so", ".dynsym", (b"mkl_",), (b"mkl_serv", b"mkl_set_", b"mkl_get_"), 1 << 20
    ),
    _Library("libtorch_cpu.so", ".dynsym", (b"_ZN6fbge", b"_ZNK6fbg"), (), 1 << 14),
    _Library("openblas", ".dynsym", (b"scipy_", b"cblas_"), (), 1 << 14),
    _Library("_multiarray_umath", ".symtab", (b"FLOAT_", b"DOUBLE_", b"HALF_"), (), 1),
    _Library("_pocketfft_umath", ".symtab", (b"_ZNK9poc",), (), 1),
)
_LONGEST_BEGINNING = 8


def _found() -> tuple[CodeRange, ...]:
    found: list[CodeRange] = []
    for mapping in executable_mappings(os.getpid()):
        for library in _LIBRARIES:
            if library.file in Path(mapping.path).name:
                found += _in_library(mapping, library)
    return tuple(found)


def _in_library(mapping: ExecutableMapping, library: _Library) -> list[CodeRange]:
    with Path(mapping.path).open("rb") as file:
        elf = ELFFile(file)
        if elf.elfclass != 64 or not elf.little_endian:
            return []
        addresses = [
            segment["p_vaddr"] // _PAGE * _PAGE
            for segment in elf.iter_segments("PT_LOAD")
            if segment["p_offset"] // _PAGE * _PAGE == mapping.offset
        ]
        functions, tables = _symbols(elf, library.table)
    if len(addresses) != 1:
        return []
    base = mapping.start - addresses[0]
    pages = set(_pages_of_tables(base, tables, functions))
    for start, end in _runs(functions, library):
        if end - start >= library.least_bytes:
            pages |= set(range(-(-start // _PAGE), end // _PAGE))
    return [
        mapping.part(base + first * _PAGE, base + last * _PAGE)
        for first, last in _joined(sorted(pages))
        if mapping.start <= base + first * _PAGE and base + last * _PAGE <= mapping.end
    ]


def _symbols(elf: ELFFile, table: str) -> tuple[list[_Symbol], list[_Symbol]]:
    """The functions of a library, by address and the beginnings of their names; and tables of kernels."""
    functions: list[_Symbol] = []
    tables: list[_Symbol] = []
    section = elf.get_section_by_name(table)
    if section is None:
        return functions, tables
    names, symbols = elf.get_section(section["sh_link"]).data(), section.data()
    for name, info, _other, place, value, size in _SYMBOL.iter_unpack(symbols):
        if place and info & 0xF == _FUNCTION:
            functions.append(_Symbol(names[name : name + _LONGEST_BEGINNING], value, value + size))
        elif place and info & 0xF == _OBJECT and size == ctypes.sizeof(ctypes.c_void_p):
            text = names[name : names.index(b"\0", name)]
            if b"DispatchStub" in text:
                tables.append(_Symbol(text, value, value + size))
    functions.sort(key=lambda function: function.start)
    return functions, tables


def _pages_of_tables(
    base: int, tables: Sequence[_Symbol], functions: Sequence[_Symbol]
) -> Iterator[int]:
    """The pages on which operators' kernels begin, but those that somebody else may need."""
    entries: dict[int, list[bytes]] = {}
    for table in tables:
        if entry := ctypes.c_uint64.from_address(base + table.start).value:
            entries.setdefault((entry - base) // _PAGE, []).append(table.name)
    starts = [function.start for function in functions]
    longest = max((function.end - function.start for function in functions), default=0)
    for page, names in entries.items():
        start, end = page * _PAGE, (page + 1) * _PAGE
        near = functions[
            bisect.bisect_left(starts, start - longest) : bisect.bisect_left(starts, end)
        ]
        fills = any(b"31fill_stub_DECLARE_DISPATCH_type" in name for name in names)
        if page >= 0 and not fills and all(function.end <= start for function in near):
            yield page


def _runs(functions: Sequence[_Symbol], library: _Library) -> Iterator[tuple[int, int]]:
    """From where to where there are only functions that belong."""
    run: tuple[int, int] | None = None
    for function in (*functions, None):
        name = b"" if function is None else function.name
        belongs = name.startswith(library.beginnings) and not name.startswith(library.except_for)
        if function is not None and belongs:
            run = (function.start if run is None else run[0], function.end)
        elif run is not None:
            yield run
            run = None


def _joined(pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring pages as one: the first, and the first after the last."""
    first = 0
    for number, page in enumerate(pages):
        if number == 0 or page != pages[number - 1] + 1:
            first = page
        if number + 1 == len(pages) or pages[number + 1] != page + 1:
            yield first, page + 1


def _lives_without(ranges: Sequence[CodeRange]) -> bool:
    """Whether what a submission may do works in a child that has closed them."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _close(ranges)
            _do_what_is_allowed()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _close(ranges: Sequence[CodeRange]) -> None:
    for code in ranges:
        start, size = ctypes.c_void_p(code.start), ctypes.c_size_t(code.num_bytes)
        if _libc.mprotect(start, size, mmap.PROT_READ) != 0:
            raise OSError(ctypes.get_errno(), "torch's code could not be closed")


def _do_what_is_allowed() -> None:
    import torch

    torch.set_num_threads(torch.get_num_threads())
    dtypes = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool)
    for deterministic in (False, True):
        torch._C._set_deterministic_algorithms(deterministic, warn_only=True)
        for dtype in dtypes:
            x = torch.empty(3, 40, dtype=dtype)
            for made in (torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 1), x.t()):
                made.fill_(1)
            torch.empty_like(x).zero_().resize_(40, 60)
            x.view(-1)[::2].unsqueeze(0).expand(2, -1).as_strided((2, 2), (1, 1)).detach()
            torch.result_type(x, 1.0)
            torch.can_cast(dtype, torch.float64)
    pid = os.fork()  # what libraries do at a fork goes before the filter that refuses it
    if pid == 0:
        os._exit(0)
    target = torch.empty(8, 8).t().numpy()
    target[...] = torch.ones(8, 8).numpy()
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(RuntimeError):
        torch.empty(4).view(3)
        ended = 1
    if ended:
        raise RuntimeError("what is allowed does not work")
