"""One object file by nvcc, its two chains of programs side by side (`nvcc_plan`).

With torch's headers the chain for the host takes about as long as the one for the device.

Covered: a toolkit whose plan is not understood, or fails in a way that no source explains; then nvcc
itself does it. Not covered: linking.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cuda_gym.core.findings import Severity
from cuda_gym.judge.toolchains.build_cache import digest
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.nvcc_plan import read_plan

__all__ = ["compile_object"]

_NO_LINK = "\n#$ true -shared\n"
"""A plan ends with a link; here there is nothing to do for it."""


def compile_object(
    compiler: Compiler,
    flags: Sequence[str],
    files: Mapping[str, str],
    unit: str,
    target: str,
    *,
    folder: Path,
    deadline: float,
) -> tuple[int, str]:
    """Compile one file; the exit status and what was said.

    Args:
        compiler: nvcc.
        flags: For compiling.
        files: Texts of the sources by their paths in the folder, where they lie already.
        unit: The one to compile.
        target: What to make.
        folder: Where to work.
        deadline: For all of it, in the time of `time.monotonic`.

    Raises:
        CandidateTimeout: it was stopped at the deadline.
        OSError: it cannot be started, or has no room to write.
    """

    def left_s() -> float:
        return max(deadline - time.monotonic(), 0.01)

    command = [*flags, "-c", unit, "-o", target]
    status, said = compiler.run(["--dryrun", *command], folder=folder, deadline_s=left_s())
    plan = None if status else read_plan(f"{said}{_NO_LINK}", digest(str(folder))[:8])
    if plan is not None:
        (folder / "build.sh").write_text(plan.script())
        shell = replace(compiler, command=("/bin/sh",))
        status, said = shell.run(["build.sh"], folder=folder, deadline_s=left_s())
        if status == 0 or any(d.severity is Severity.ERROR for d in parse_nvcc(said, files)):
            return status, said
    return compiler.run(command, folder=folder, deadline_s=left_s())
