"""kernel<<<grid, block, shared_bytes, stream>>>(arguments) becomes a call of the runtime.

    k<T><<<g, b>>>(x)        the kernel by its name: the compiler sees its body, and vectorises it
    table[i]<<<g, b>>>(x)    a pointer, which is read once
    f<<<g, b>>>(x)           f may be either, as in a macro or a template: C++ itself finds out

Covered: launches inside macros and lambdas, over many lines, braced lists in the configuration and
among the arguments.
"""

from __future__ import annotations

import re

from cuda_gym.judge.toolchains.cuda_launches import LaunchText, launches_in
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode, Modes
from cuda_gym.judge.toolchains.cuda_on_cpu.kernel_values import KernelNames
from cuda_gym.judge.toolchains.cuda_on_cpu.kernels import THREAD
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Edits, Source, closing

__all__ = ["rewrite_launches"]

_PLAIN_NAME = re.compile(rf"\s*(?:::)?\s*(?:{IDENTIFIER}\s*::\s*(?:template\s+)?)*({IDENTIFIER}(?:\s*##\s*\w+)*)\s*(?:<.*)?$", re.DOTALL)  # fmt: skip
_NULL = re.compile(r"\bNULL\b")


def rewrite_launches(source: Source, decided: Modes, names: KernelNames, edits: Edits) -> None:
    """Rewrite every launch of a file.

    Args:
        source: The file.
        decided: How each kernel is run.
        names: Which names are those of kernels, and where.
        edits: Where the changes are collected.

    Raises:
        CompileError: where a launch cannot be read.
    """
    for launch in launches_in(source):
        start, stop = launch.callee
        callee = _one_line(source.text[start:stop])
        plain = _PLAIN_NAME.match(source.masked[start:stop])
        kernel = plain[1] if plain else _last_word(callee)
        is_hidden = plain is not None and kernel in names.hidden
        is_known = is_hidden or (plain is not None and kernel in names.values)
        if is_known and not names.is_shadowed(kernel, source, start):
            mode = decided.of(kernel)
            mode = mode if is_hidden or mode is not Mode.LOOP else Mode.LOOP_WITH_INDEX
            how, bodies = "launch", [_body(source, launch, callee, is_hidden=is_hidden)]
        elif plain is not None:
            mode, how = decided.unknown, "launch_either"
            asking = _body(source, launch, callee, is_hidden=True, asks=True)
            bodies = [asking, _body(source, launch, callee, is_hidden=False)]
        else:
            mode = decided.unknown if decided.unknown is Mode.FIBERS else Mode.LOOP_WITH_INDEX
            how, bodies = "launch", [_body_of_pointer(source, launch, callee)]
        has_arguments = _has_unbraced_arguments(source, launch)
        edits.replace(
            start,
            launch.configuration[0],
            f"::cuda_on_cpu::{how}<::cuda_on_cpu::Mode::{mode.value}>"
            f"(CUDA_ON_CPU_TEXT({kernel}), ::cuda_on_cpu::Configuration(",
        )
        edits.replace(
            launch.configuration[1],
            launch.arguments[0],
            f"), {', '.join(bodies)}" + (", " if has_arguments else ""),
            stands_for=start,
        )
        _rewrite_arguments(source, launch, edits)


def _body(
    source: Source, launch: LaunchText, callee: str, *, is_hidden: bool, asks: bool = False
) -> str:
    """The lambda that runs one thread.

    Args:
        source: The file.
        launch: The launch in it.
        callee: What is called.
        is_hidden: Whether it has the hidden first parameter.
        asks: Whether C++ may ask if the call is possible, with anything in the place of the thread.
    """
    braced = _braced_arguments(source, launch)
    if braced is None:
        parameters, passed = ", auto... cuda_on_cpu_arguments", ["cuda_on_cpu_arguments..."]
    else:
        numbers = [i for i, (_, _, is_braced) in enumerate(braced) if not is_braced]
        parameters = "".join(f", auto cuda_on_cpu_argument_{i}" for i in numbers)
        passed = [
            _one_line(source.text[a:b]) if is_braced else f"cuda_on_cpu_argument_{i}"
            for i, (a, b, is_braced) in enumerate(braced)
        ]
    if is_hidden:
        passed.insert(0, "cuda_on_cpu_thread")
    call = f"{callee}({', '.join(passed)})"
    thread = "const auto& cuda_on_cpu_thread" if asks else THREAD
    result = f" -> decltype({call})" if asks else ""
    return f"[=]({thread}{parameters}) __attribute__((always_inline)){result} {{ {call}; }}"


def _body_of_pointer(source: Source, launch: LaunchText, callee: str) -> str:
    body = _body(source, launch, "cuda_on_cpu_kernel", is_hidden=False)
    return f"[=, cuda_on_cpu_kernel = {callee}]" + body.removeprefix("[=]")


def _rewrite_arguments(source: Source, launch: LaunchText, edits: Edits) -> None:
    first, last = launch.arguments
    braced = _braced_arguments(source, launch)
    for null in _NULL.finditer(source.masked, first, last):
        edits.replace(*null.span(), "nullptr")
    if braced is None:
        return
    is_first = True
    for i, (start, end, is_braced) in enumerate(braced):
        comma = start - 1 if i else start
        if is_braced:
            edits.replace(comma, end, "")
        elif is_first and i:
            edits.replace(comma, start, "")
        is_first = is_first and is_braced


def _has_unbraced_arguments(source: Source, launch: LaunchText) -> bool:
    braced = _braced_arguments(source, launch)
    if braced is not None:
        return not all(is_braced for _, _, is_braced in braced)
    return bool(source.masked[slice(*launch.arguments)].strip())


def _braced_arguments(source: Source, launch: LaunchText) -> list[tuple[int, int, bool]] | None:
    """(start, end, whether it is a braced list) of each argument; None where no list is braced."""
    first, last = launch.arguments
    pieces = []
    start = position = first
    masked = source.masked
    while position < last:
        character = masked[position]
        if character in "([{":
            position = closing(masked, position)
        elif character == "<" and (template := _template_list(masked, position, last)):
            position = template
        elif character == ",":
            pieces.append((start, position))
            start = position + 1
        position += 1
    pieces.append((start, last))
    arguments = [(a, b, masked[a:b].lstrip("\\ \t\r\n").startswith("{")) for a, b in pieces]
    return arguments if any(is_braced for _, _, is_braced in arguments) else None


def _template_list(masked: str, opening: int, last: int) -> int | None:
    """The end of `<...>`, where it is one: f<a, b>(x), pair<a, b>::c, pair<a, b>{}."""
    depth = 0
    for position in range(opening, last):
        depth += {"<": 1, ">": -1}.get(masked[position], 0)
        if depth == 0:
            return position if masked[position + 1 : last].lstrip()[:1] in ("(", ":", "{") else None
    return None


def _one_line(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split())


def _last_word(callee: str) -> str:
    words = re.findall(IDENTIFIER, callee)
    return words[-1] if words else "kernel"
