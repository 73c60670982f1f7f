"""`__global__` functions that Python launches itself, without a launcher of the submission's own.

    __global__ void scale(float* out, const float* x, int n)

is `cuda_extension.kernel("scale")[grid, block](out, x, n)`. For that, its file gets an entry behind its
last line: a C function that launches it. The text of the entry is the same for every device, its
errors are told at the line of the kernel, and all other lines stay.

Covered: definitions in `.cu` files, in namespaces and `extern "C"`, with attributes, as launchers are
read. Entries are made only where `model_new.py` mentions `kernel`, since each costs compile time.

Not covered: templates, overloads, and kernels that macros or `#include`d files define. What Python
cannot launch is known by name, with the reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cuda_gym.judge.toolchains.cuda_parameters import (
    Parameter,
    Unreadable,
    parameter_groups,
    parameters_from_plain,
    passed,
    read_parameters,
)
from cuda_gym.judge.toolchains.cuda_tokens import (
    Definition,
    Token,
    definitions,
    read_tokens,
    without_attributes,
)
from cuda_gym.judge.toolchains.type_aliases import with_plain_types

__all__ = ["DirectKernel", "launches_directly", "parse_kernels", "with_entries"]


@dataclass(frozen=True, kw_only=True)
class DirectKernel:
    """One `__global__` function, as its definition says."""

    name: str
    """Without the namespaces around it."""
    parameters: tuple[Parameter, ...]
    """Empty where there is a problem."""
    file: str
    line: int
    """Of the function's name, from 1."""
    problem: str = ""
    """Why Python cannot launch it, with the way out; empty where it can."""

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """What Python passes."""
        return passed(self.parameters)

    @property
    def returns(self) -> str:
        """What its entry returns."""
        return "void"

    @property
    def what(self) -> str:
        """What messages call it."""
        return f"kernel {self.name}"

    @property
    def symbol(self) -> str:
        """The name of its entry in the compiled library."""
        return f"{_ENTRY}{self.name}"

    def __str__(self) -> str:
        return f'kernel("{self.name}")[grid, block]({", ".join(map(str, self.arguments))})'

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> DirectKernel:
        """The kernel of which `as_plain` made these dicts and lists."""
        return cls(**{**plain, "parameters": parameters_from_plain(plain["parameters"])})


def launches_directly(model: str) -> bool:
    """Whether the text of `model_new.py` may ask for a kernel; a false yes costs compile time only.

    >>> launches_directly("cuda_extension.kernel('scale')[8, 256](out, x)")
    True
    """
    return _MENTIONS_KERNEL.search(model) is not None


def parse_kernels(files: Mapping[str, str]) -> tuple[DirectKernel, ...]:
    """Every kernel of the `.cu` files, in the order of paths and lines.

    >>> source = "__global__ void fill(float* out, int n) {}"
    >>> [str(kernel) for kernel in parse_kernels({"kernels/fill.cu": source})]
    ['kernel("fill")[grid, block](float* out, int n)']
    """
    return tuple(kernel for kernel, _ in _found(files))


def with_entries(files: Mapping[str, str]) -> dict[str, str]:
    """The files with an entry for each kernel that Python can launch."""
    entries: dict[str, list[str]] = defaultdict(list)
    for kernel, entry in _found(files):
        if entry:
            entries[kernel.file].append(entry)
    return {path: "\n".join([text, *entries[path], ""]) if path in entries else text
            for path, text in files.items()}  # fmt: skip


_ENTRY = "cuda_gym_entry_of_"
_MENTIONS_KERNEL = re.compile(r"\.\s*kernel\b|\bimport\b[^\n]*\bkernel\b|getattr")
_CONFIGURATION = ("unsigned cuda_gym_grid_x", "unsigned cuda_gym_grid_y", "unsigned cuda_gym_grid_z",
                  "unsigned cuda_gym_block_x", "unsigned cuda_gym_block_y",
                  "unsigned cuda_gym_block_z", "unsigned long long cuda_gym_shared",
                  "cudaStream_t cuda_gym_stream")  # fmt: skip
_GRID = "dim3(cuda_gym_grid_x, cuda_gym_grid_y, cuda_gym_grid_z)"
_BLOCK = "dim3(cuda_gym_block_x, cuda_gym_block_y, cuda_gym_block_z)"


def _found(files: Mapping[str, str]) -> list[tuple[DirectKernel, str]]:
    """Each kernel with its entry, which is empty where there can be none."""
    by_name: dict[str, list[tuple[DirectKernel, str]]] = defaultdict(list)
    for path in sorted(path for path in files if path.endswith(".cu")):
        tokens = with_plain_types(read_tokens(files[path]))
        words = [token.text for token in tokens]
        # Behind a bracket that never closes an entry would only hide what the compiler says.
        is_whole = words.count("{") == words.count("}")
        for definition in definitions(tokens):
            if kernel := _read_kernel(definition, path):
                by_name[kernel[0].name].append(kernel if is_whole else (kernel[0], ""))
    return [_single(same) for same in by_name.values()]


def _single(same: Sequence[tuple[DirectKernel, str]]) -> tuple[DirectKernel, str]:
    """One kernel of all that have its name."""
    kernel, entry = same[0]
    if len(same) == 1:
        return kernel, entry
    other = same[1][0]
    problem = (
        f"there is another one of that name at {other.file}:{other.line}; rename one of the two"
    )
    return replace(kernel, problem=problem), ""


def _read_kernel(definition: Definition, file: str) -> tuple[DirectKernel, str] | None:
    """A kernel with its entry; None where it is no definition of a kernel."""
    head = without_attributes(definition.head)
    words = [token.text for token in head]
    if "__global__" not in words or "(" not in words[(word := words.index("__global__")) :]:
        return None
    at = words.index("(", word)
    name = head[at - 1]
    kernel = DirectKernel(name=name.text, parameters=(), file=file, line=name.line)
    if "template" in words[:at]:
        return replace(kernel, problem=_TEMPLATE.format(name=name.text)), ""
    try:
        kernel = replace(kernel, parameters=read_parameters(head, at, owner="kernel"))
    except Unreadable as problem:
        return replace(kernel, problem=f"{file}:{problem.line}: {problem.message}"), ""
    qualified = "::".join(["", *definition.scopes, name.text])
    return kernel, _entry(kernel, qualified, parameter_groups(head, at))


_TEMPLATE = (
    "it is a template, of which C cannot name the types; write a launcher that does: "
    'extern "C" void launch_{name}(..., cudaStream_t stream) '
    "{{ {name}<float><<<grid, block, 0, stream>>>(...); }}"
)


def _entry(kernel: DirectKernel, qualified: str, groups: Sequence[Sequence[Token]]) -> str:
    """The C function that launches a kernel, on one line."""
    declared = [*_CONFIGURATION]
    names: list[str] = []
    for number, group in enumerate(groups):
        names.append(f"cuda_gym_argument_{number}")
        declared.append(" ".join(_renamed(group, kernel.parameters[number].name, names[-1])))
    # How much is given unasked depends on the static shared memory of the kernel.
    more_shared = (
        "static unsigned long long cuda_gym_asked = 0; if (cuda_gym_shared > cuda_gym_asked && "
        f"cudaFuncSetAttribute({qualified}, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "(int)cuda_gym_shared) == cudaSuccess) cuda_gym_asked = cuda_gym_shared;"
    )
    launch = (
        f"{qualified}<<<{_GRID}, {_BLOCK}, cuda_gym_shared, cuda_gym_stream>>>({', '.join(names)});"
    )
    signature = f'extern "C" void {kernel.symbol}({", ".join(declared)})'
    return f'#line {kernel.line} "{kernel.file}"\n{signature} {{ {more_shared} {launch} }}'


def _renamed(group: Sequence[Token], name: str, new: str) -> Iterator[str]:
    """The words of a parameter's declaration, under another name and without a default."""
    is_placed = False
    for token in group:
        if token.text == "=":
            break
        if token.text == "[" and not is_placed:
            yield new
            is_placed = True
        if token.text == name and not is_placed:
            yield new
            is_placed = True
        else:
            yield token.text
    if not is_placed:
        yield new
