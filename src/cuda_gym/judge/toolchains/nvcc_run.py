"""One run of nvcc, from sources to a library: by its own plan side by side where that is possible.

    light    the plan, with less of the headers and a quicker linker where there is one
    plain    the plan as it is, where that failed: another text may be right for it, and its words are nvcc's
    nvcc     itself, one program after the other, where the plan is not understood or fails for no reason
             that a source explains

Covered: one deadline for all. Not covered: what is to be compiled, and why.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cuda_gym.core.findings import Severity
from cuda_gym.judge.toolchains.build_cache import digest
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.nvcc_plan import Plan, read_plan

__all__ = ["run_nvcc"]

_NO_DEVICE_LINK = "--no-device-link"
"""Without relocatable device code there is nothing to link on the device: it saves three programs."""
_MOST_UNITS = 8
"""Each takes two processes at a time."""
_STAND_IN = "kernels/cuda_gym_unit_{}.cu"
_MOST_PLANS = 64
_DRY_RUN_S = 60.0

_PRELUDE = Path(__file__).parent / "cuda_runtime_library/prelude/without_special_functions.h"
"""Makes a build a quarter shorter."""

_told: dict[tuple[object, ...], tuple[str, str]] = {}
"""What nvcc said that it would do, and the folder in which: it does not look at the files."""


def run_nvcc(
    compiler: Compiler,
    flags: Sequence[str],
    files: Mapping[str, str],
    target: str,
    *,
    folder: Path,
    deadline_s: float,
) -> tuple[int, str]:
    """Compile and link; the exit status and what was said.

    Args:
        compiler: nvcc.
        flags: For compiling and linking, objects to link with among them.
        files: Texts of the sources by their paths in the folder, where they lie already.
        target: What to make there.
        folder: Where to work.
        deadline_s: For all of it.

    Raises:
        CandidateTimeout: it was stopped at the deadline.
        OSError: it cannot be started, or has no room to write.
    """
    deadline = time.monotonic() + deadline_s
    units = [path for path in files if path.endswith(".cu")]
    plan = _plan(compiler, flags, units, target, folder)
    if plan is not None:
        linker = "gold" if shutil.which("ld.gold") else ""
        light = plan.script(prelude=_PRELUDE, linker=linker)
        status, said = _follow(light, compiler, folder, deadline)
        # All that the light headers lack is in namespace std.
        if status and (_mentions_std(files) or not _explains_itself(said, files)):
            status, said = _follow(plan.script(), compiler, folder, deadline)
        if status == 0 or _explains_itself(said, files):
            return status, said
    command = [*flags, "--threads=0", "-o", target, *units]
    return compiler.run(command, folder=folder, deadline_s=_left_s(deadline))


def _explains_itself(said: str, files: Mapping[str, str]) -> bool:
    return any(d.severity is Severity.ERROR for d in parse_nvcc(said, files))


def _mentions_std(files: Mapping[str, str]) -> bool:
    return any("std" in text for text in files.values())


def _follow(script: str, compiler: Compiler, folder: Path, deadline: float) -> tuple[int, str]:
    """Do what a script says in one shell, so that limits hold and nothing outlives it."""
    (folder / "build.sh").write_text(script, encoding="utf-8")
    shell = replace(compiler, command=("/bin/sh",))
    return shell.run(["build.sh"], folder=folder, deadline_s=_left_s(deadline))


def _left_s(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0.001)


def _plan(
    compiler: Compiler, flags: Sequence[str], units: Sequence[str], target: str, folder: Path
) -> Plan | None:
    """The plan of nvcc for these files; None where there is none."""
    if len(units) > _MOST_UNITS:
        return None
    said = _dry_run(compiler, flags, len(units), target, folder)
    for number, unit in enumerate(units):
        said = said.replace(_STAND_IN.format(number), unit)
    return read_plan(said, digest(str(folder))[:8])


def _dry_run(
    compiler: Compiler, flags: Sequence[str], num_units: int, target: str, folder: Path
) -> str:
    """What nvcc says that it would do with so many files, as if it had been said in this folder."""
    key = (compiler.identity, num_units, target, *flags)
    if key not in _told:
        units = [_STAND_IN.format(number) for number in range(num_units)]
        command = ["--dryrun", *flags, _NO_DEVICE_LINK, "-o", target, *units]
        status, said = compiler.run(command, folder=folder, deadline_s=_DRY_RUN_S)
        while len(_told) >= _MOST_PLANS:
            _told.pop(next(iter(_told)), None)
        _told[key] = ("" if status else said, str(folder))
    said, place = _told[key]
    return said.replace(place, str(folder))
