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
from cuda_gym.judge.toolchains.nvcc_plan import read_plan

__all__ = ["run_nvcc"]

_NO_DEVICE_LINK = "--no-device-link"
"""Without relocatable device code there is nothing to link on the device: it saves three programs."""
_MOST_UNITS = 8
"""Each takes two processes at a time."""
_UNIT = "kernels/cuda_gym_unit_{}.cu"
_FOLDER = "/cuda_gym_folder"
_SEED = "cuda0gym0seed"
"""These stand for what is another in each build."""
_MOST_PLANS = 64
_DRY_RUN_S = 60.0

_PRELUDE = Path(__file__).parent / "cuda_runtime_library/prelude/without_special_functions.h"
"""Leaves out what no launcher needs of the headers, so that there is less to be read."""

_scripts: dict[tuple[object, ...], tuple[str, str] | None] = {}
"""The light and the plain plan by what is to be built: nvcc does not look at the files for them."""


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
    scripts = _scripts_for(compiler, flags, units, target, folder)
    if scripts is not None:
        light, plain = scripts
        status, said = _follow(light, compiler, folder, deadline)
        # All that the light headers lack is in namespace std.
        if status and (_mentions_std(files) or not _explains_itself(said, files)):
            status, said = _follow(plain, compiler, folder, deadline)
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


def _scripts_for(
    compiler: Compiler, flags: Sequence[str], units: Sequence[str], target: str, folder: Path
) -> tuple[str, str] | None:
    """The light and the plain plan for these files; None where there is none."""
    if len(units) > _MOST_UNITS:
        return None
    key = (compiler.identity, len(units), target, *flags)
    if key not in _scripts:
        while len(_scripts) >= _MOST_PLANS:
            _scripts.pop(next(iter(_scripts)), None)
        _scripts[key] = _asked(compiler, flags, len(units), target, folder)
    scripts = _scripts[key]
    if scripts is None:
        return None
    stand_ins = {_FOLDER: str(folder), _SEED: digest(str(folder))[:8]}
    stand_ins |= {_UNIT.format(number): unit for number, unit in enumerate(units)}
    light, plain = (_replaced(script, stand_ins) for script in scripts)
    return light, plain


def _asked(
    compiler: Compiler, flags: Sequence[str], num_units: int, target: str, folder: Path
) -> tuple[str, str] | None:
    """The two plans for so many files, with names that stand for those of files and folder."""
    units = [_UNIT.format(number) for number in range(num_units)]
    command = ["--dryrun", *flags, _NO_DEVICE_LINK, "-o", target, *units]
    status, said = compiler.run(command, folder=folder, deadline_s=_DRY_RUN_S)
    plan = None if status else read_plan(said.replace(str(folder), _FOLDER), _SEED)
    if plan is None:
        return None
    linker = "gold" if shutil.which("ld.gold") else ""
    return plan.script(prelude=_PRELUDE, linker=linker), plan.script()


def _replaced(text: str, stand_ins: Mapping[str, str]) -> str:
    for name, value in stand_ins.items():
        text = text.replace(name, value)
    return text
