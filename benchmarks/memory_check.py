"""What the memory check costs: building with it, and running it, over our own right programs.

`python benchmarks/memory_check.py` writes the table.
"""

from __future__ import annotations

import datetime
import os
import statistics
import sys
import tempfile
from pathlib import Path

from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_program import build_program, check_program, run_program

PROGRAMS = sorted(Path(__file__).parent.parent.glob("tests/cuda_programs/right/*.cu"))
RESULT = Path(__file__).parent / "results" / "memory_check.md"


def main() -> None:
    """Build and run every program, one after another, with the check and without."""
    builds: dict[bool, list[float]] = {True: [], False: []}
    runs: dict[bool, list[float]] = {True: [], False: []}
    num_accused = 0
    with tempfile.TemporaryDirectory() as folder:
        cache = BuildCache(Path(folder))
        toolchain = CpuToolchain(cache)
        toolchain.warm()
        for program in PROGRAMS:
            for checking in (True, False):
                build = build_program([program], checking=checking, cache=cache)
                builds[checking].append(build.build_s)
                if checking:
                    ran, findings = check_program(build, deadline_s=60)
                    num_accused += bool(findings)
                else:
                    ran = run_program(build, deadline_s=60)
                runs[checking].append(ran.run_s)
        name = toolchain.name
    rows = [
        f"| {what} | {statistics.median(times[True]):.3f} | {max(times[True]):.3f} "
        f"| {statistics.median(times[False]):.3f} | {max(times[False]):.3f} |"
        for what, times in (("build", builds), ("run, start of the process included", runs))
    ]
    page = [
        "# The memory check: measured",
        "",
        f"{datetime.date.today()}, {telemetry.cpu_name()}, {len(os.sched_getaffinity(0))} cores, "
        f"{name}. `python benchmarks/memory_check.py` writes this file.",
        "",
        f"{len(PROGRAMS)} right programs, one after another; {num_accused} accused. Seconds.",
        "",
        "| | with the check, median | most | without, median | most |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "Wanted: a checking build in 0.8 s, a checking run in 0.3 s at the median.",
    ]
    RESULT.write_text("\n".join(page) + "\n", "utf-8")
    sys.stdout.write(RESULT.read_text("utf-8"))


if __name__ == "__main__":
    main()
