"""NVRTC in a process of its own, since the text that it compiles may crash it, hang it or fill memory.

    first line out   {"version": [13, 0]}, or {"missing": why}
    a line in        {"folder", "units", "options", "headers"}
    a line out       [{"status", "log"}] a unit, its cubin written beside it

It is run as a file, in an interpreter that knows nothing of the package: what it needs to start is
what a build waits for. It ends when nobody can ask any more.

Covered: limits on memory and on files; only the protocol's own lines leave it. Not covered: deadlines,
which whoever asks keeps, and what one text does to the compiler of the next: it is the same process.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MEMORY_BYTES = 4 << 30
_FILE_BYTES = 256 << 20
_LOG_CHARACTERS = 256 << 10
SUCCESS = 0


def main() -> None:
    """Answer requests until the input ends."""
    # Whatever the compiler prints on its own account goes nowhere.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    for limit, value in (
        # Not of addresses: the driver, where NVRTC loads it, reserves more of these than there is memory.
        (resource.RLIMIT_DATA, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
    try:
        greeting: dict[str, Any] = {"version": _version()}
    except (ImportError, RuntimeError, OSError) as error:
        greeting = {"missing": f"{type(error).__name__}: {error}"[:2000]}
    _say(answers, greeting)
    if "missing" in greeting:
        return
    _warm()
    for line in sys.stdin:
        request = json.loads(line)
        os.chdir(request["folder"])
        found = [
            _compile(unit, request["options"], request["headers"]) for unit in request["units"]
        ]
        _say(answers, found)


def _say(answers: Any, message: Any) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _warm() -> None:
    """Let the compiler load what it loads at its first use, while nobody waits for it."""
    from cuda.bindings import nvrtc

    _, program = nvrtc.nvrtcCreateProgram(b"__global__ void warm() {}", b"warm.cu", 0, [], [])
    nvrtc.nvrtcCompileProgram(program, 0, [])
    nvrtc.nvrtcDestroyProgram(program)


def _version() -> tuple[int, int]:
    from cuda.bindings import nvrtc

    status, major, minor = nvrtc.nvrtcVersion()
    if int(status) != SUCCESS:
        raise RuntimeError(f"nvrtcVersion gives {status.name}")
    _load_builtins()
    return major, minor


def _load_builtins() -> None:
    """Load the library that NVRTC opens by its name alone: some wheels do not say where it lies."""
    mapped = Path("/proc/self/maps").read_text().split()
    for path in {Path(word) for word in mapped if "/libnvrtc.so" in word}:
        for builtins in path.parent.glob("libnvrtc-builtins.so*"):
            ctypes.CDLL(str(builtins))


def _compile(unit: str, options: Sequence[str], headers: Mapping[str, str]) -> dict[str, Any]:
    """One source file, by its path in the folder; the cubin gets its name and `.cubin`."""
    from cuda.bindings import nvrtc

    path = Path(unit)
    source = path.read_bytes()
    status, program = nvrtc.nvrtcCreateProgram(
        source,
        unit.encode(),
        len(headers),
        [text.encode() for text in headers.values()],
        [name.encode() for name in headers],
    )
    if int(status) != SUCCESS:
        return {"status": int(status), "log": f"nvrtcCreateProgram gives {status.name}"}
    given = [*options, f"--include-path={path.parent}"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(given), [text.encode() for text in given])
    log = _text(program)
    if int(status) == SUCCESS:
        _, size = nvrtc.nvrtcGetCUBINSize(program)
        cubin = bytearray(size)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        Path(f"{unit}.cubin").write_bytes(cubin)
    nvrtc.nvrtcDestroyProgram(program)
    return {"status": int(status), "log": log, "said": status.name}


def _text(program: Any) -> str:
    from cuda.bindings import nvrtc

    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    # What ptxas has said is ended by a zero, and what went wrong there follows it.
    text = log.decode("utf-8", "replace").replace("\0", "\n")
    return text.rstrip()[:_LOG_CHARACTERS]


if __name__ == "__main__":
    main()
