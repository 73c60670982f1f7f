"""One run of nvcc, from sources to a library: by its own plan side by side where that is possible.

Covered: a toolkit whose plan is not understood, or fails in a way that no source explains; then nvcc
itself does it all, one program after the other. Not covered: what is to be compiled, and why.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from cuda_gym.core.findings import Severity
from cuda_gym.judge.toolchains.build_cache import digest
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.nvcc_plan import read_plan

__all__ = ["run_nvcc"]

_LIGHT = "--no-device-link"
"""Without relocatable device code there is nothing to link on the device: it saves three programs."""
_MOST_UNITS = 8
"""Each takes two processes at a time."""
_STAND_IN = "kernels/cuda_gym_unit_{}.cu"
_MOST_PLANS = 64
_DRY_RUN_S = 60.0

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
    script = _script(compiler, flags, units, target, folder)
    if script is not None:
        (folder / "build.sh").write_text(script)
        shell = Compiler(command=("/bin/sh",), version=compiler.version, identity=compiler.identity)
        status, said = shell.run(["build.sh"], folder=folder, deadline_s=deadline_s)
        if status == 0 or any(d.severity is Severity.ERROR for d in parse_nvcc(said, files)):
            return status, said
    left_s = max(deadline - time.monotonic(), 0.001)
    command = [*flags, "--threads=0", "-o", target, *units]
    return compiler.run(command, folder=folder, deadline_s=left_s)


def _script(
    compiler: Compiler, flags: Sequence[str], units: Sequence[str], target: str, folder: Path
) -> str | None:
    """The plan of nvcc for these files, as a text for the shell; None where there is none."""
    if len(units) > _MOST_UNITS:
        return None
    said = _dry_run(compiler, flags, len(units), target, folder)
    for number, unit in enumerate(units):
        said = said.replace(_STAND_IN.format(number), unit)
    plan = read_plan(said, digest(str(folder))[:8])
    return None if plan is None else plan.script()


def _dry_run(
    compiler: Compiler, flags: Sequence[str], num_units: int, target: str, folder: Path
) -> str:
    """What nvcc says that it would do with so many files, as if it had been said in this folder."""
    key = (compiler.identity, num_units, target, *flags)
    if key not in _told:
        units = [_STAND_IN.format(number) for number in range(num_units)]
        command = ["--dryrun", *flags, _LIGHT, "-o", target, *units]
        status, said = compiler.run(command, folder=folder, deadline_s=_DRY_RUN_S)
        while len(_told) >= _MOST_PLANS:
            _told.pop(next(iter(_told)), None)
        _told[key] = ("" if status else said, str(folder))
    said, place = _told[key]
    return said.replace(place, str(folder))
