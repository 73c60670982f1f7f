"""What the linker says, in words for somebody who has written kernels: which line, and what to do.

Covered: names that nobody defines, names that are defined twice. Not covered: anything else it says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.toolchains.function_places import find_functions, short_name

__all__ = ["read_linker_message"]

_MESSAGE = re.compile(
    r"(?P<kind>undefined reference to|multiple definition of) [`'](?P<name>[^']+)'"
)
_STUB = re.compile(r"__device_stub_|__wrap_|__real_")
_LIBRARIES = re.compile(r"^(cublas|cudnn|curand|cufft|cusparse|cusolver|nccl|nvrtc|cu(?=[A-Z]))")


def read_linker_message(line: str, files: Mapping[str, str]) -> Diagnostic | None:
    """The diagnostic of one line; None where it is about no name of the agent's.

    Args:
        line: What the linker printed.
        files: Texts of the sources by path.
    """
    found = _MESSAGE.search(line)
    if found is None or _STUB.search(found["name"]):
        return None
    name = found["name"]
    word = short_name(name.partition("(")[0]).rpartition(" ")[2]
    fact = f"{found['kind']} `{name}'"
    if found["kind"].startswith("multiple"):
        return _twice(fact, word, files)
    return _nowhere(fact, word, files)


def _twice(fact: str, name: str, files: Mapping[str, str]) -> Diagnostic:
    places = find_functions(files, name)
    remedy = "rename one of the two, or write static in front of one that only its own file needs"
    if len(places) < 2:
        remedy = "write static in front of it, or keep it in one file"
        return _error(f"{fact}; {remedy}", places[0] if places else None)
    told = " and ".join(map(str, places[:4]))
    return _error(f"{fact}: at {told}; {remedy}", places[-1])


def _nowhere(fact: str, name: str, files: Mapping[str, str]) -> Diagnostic:
    places = find_functions(files, name)
    use = _first_use(files, name)
    if _LIBRARIES.match(name):
        remedy = (
            "kernels are linked with the CUDA runtime and no other library; write it yourself, or call "
            "cuda_extension.library where the task allows it"
        )
    elif places:
        remedy = (
            f"{places[0]} defines a function of that name, but with other parameters, as static, in a "
            'namespace, or with another use of extern "C" than its declaration'
        )
    else:
        remedy = "no file under kernels/ defines it"
    return _error(f"{fact}: {remedy}", use)


def _first_use(files: Mapping[str, str], name: str) -> tuple[str, str, int] | None:
    """Where a name is called first; a declaration looks the same, so the last one of its file counts."""
    for path in sorted(path for path in files if path.endswith(".cu")):
        lines = files[path].split("\n")
        uses = [
            n for n, line in enumerate(lines, 1) if re.search(rf"\b{re.escape(name)}\s*[(<]", line)
        ]
        if uses:
            return name, path, uses[-1]
    return None


def _error(message: str, place: tuple[str, str, int] | None) -> Diagnostic:
    return Diagnostic(
        severity=Severity.ERROR,
        message=message,
        file=None if place is None else place[1],
        line=None if place is None else place[2],
    )
