"""Whether our CUDA programs are CUDA: all of them on a GPU, the buggy ones under compute-sanitizer too.

The programs in `tests/cuda_programs/right` must end with 0; those in `buggy` show how many of the bugs
that the checking build of the cpu device names the sanitizer's four tools name.
`python benchmarks/programs_on_gpu.py` writes the table.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent.parent / "tests" / "cuda_programs"
RESULT = Path(__file__).parent / "results" / "programs_on_gpu.md"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
CLEAN = ("ERROR SUMMARY: 0 errors", "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)")
BUILD_DEADLINE_S = 120
DEADLINE_S = 15


@dataclass(frozen=True, kw_only=True)
class Row:
    """One program."""

    name: str
    finds: str
    status: int | None
    """None where nvcc refused it."""
    tools: Mapping[str, bool]
    """Whether each tool found something."""


def main() -> None:
    """Build and run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--result", type=Path, default=RESULT)
    result = parser.parse_args().result
    missing = [
        tool for tool in ("nvidia-smi", "nvcc", "compute-sanitizer") if not shutil.which(tool)
    ]
    if missing:
        sys.stdout.write(f"Nothing was measured: there is no {' and no '.join(missing)} here.\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        groups = {
            kind: _rows(sorted((PROGRAMS / kind).glob("*.cu")), Path(folder))
            for kind in ("right", "buggy")
        }
    result.write_text(_page(groups), "utf-8")
    sys.stdout.write(result.read_text("utf-8"))


def _rows(programs: Sequence[Path], folder: Path) -> list[Row]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda path: _build(path, folder), programs))
    # One GPU: a few at a time, so that a program that hangs does not hold up all.
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(_row, programs, built))


def _build(path: Path, folder: Path) -> Path | None:
    binary = folder / f"{path.parent.name}-{path.stem}"
    flags = ["-std=c++17", "-arch=sm_90", "-lineinfo", "-o", str(binary)]
    status, said = _run(["nvcc", *flags, str(path)], BUILD_DEADLINE_S)
    if status:  # kernels that launch kernels are linked in a second step
        status, said = _run(["nvcc", "-rdc=true", *flags, str(path)], BUILD_DEADLINE_S)
    if status:
        sys.stderr.write(f"{path.name}: {said[-600:]}\n")
        return None
    return binary


def _row(path: Path, binary: Path | None) -> Row:
    first = path.read_text("utf-8").splitlines()[0]
    finds = first.removeprefix("// finds: ") if first.startswith("// finds: ") else ""
    if binary is None:
        return Row(name=path.stem, finds=finds, status=None, tools={})
    status, said = _run([str(binary)])
    if status and not finds:
        sys.stderr.write(f"{path.name} ended with {status}: {said[-400:]}\n")
    tools = {}
    for tool in TOOLS if finds else ():
        _, said = _run(["compute-sanitizer", "--tool", tool, str(binary)])
        tools[tool] = "SUMMARY" in said and not any(clean in said for clean in CLEAN)
    return Row(name=path.stem, finds=finds, status=status, tools=tools)


def _run(command: Sequence[str], deadline_s: float = DEADLINE_S) -> tuple[int, str]:
    # A group of its own: the sanitizer starts the program as a child, which outlives it.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            status = 124
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return status, output.read()


def _page(groups: Mapping[str, Sequence[Row]]) -> str:
    gpu = _run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])[
        1
    ].strip()
    nvcc = _run(["nvcc", "--version"])[1].strip().splitlines()[-1]
    right, buggy = groups["right"], groups["buggy"]
    good = [row for row in right if row.status == 0]
    found = [row for row in buggy if any(row.tools.values())]
    lines = [
        "# Our CUDA programs on a GPU",
        "",
        f"{datetime.date.today()}, {gpu}, {nvcc}. `python benchmarks/programs_on_gpu.py` writes this file.",
        "",
        "| programs | of them | |",
        "|---|---|---|",
        f"| right | {len(right)} | {len(good)} end with 0 |",
        f"| buggy | {len(buggy)} | {len(found)} are reported by some tool of compute-sanitizer |",
        "",
        *_table([row for row in right if row not in good]),
        "",
        "Buggy programs (`cuda-gym check` names all of them):",
        "",
        *_table(buggy),
    ]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        f"| program | bug | ends with | {' | '.join(TOOLS)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        found = ["found" if row.tools.get(tool) else "" for tool in TOOLS]
        status = "does not compile" if row.status is None else str(row.status)
        lines.append(f"| {row.name} | {row.finds} | {status} | {' | '.join(found)} |")
    return lines


if __name__ == "__main__":
    main()
