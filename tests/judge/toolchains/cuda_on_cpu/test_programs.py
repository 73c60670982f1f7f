"""Each program of `tests/cuda_programs/right` finds its own answers right on the cpu device."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_program import ProgramRun, build_program, run_program

PROGRAMS = Path(__file__).parents[3] / "cuda_programs" / "right"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.cu"))
_DEADLINE_S = 30.0


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, toolchain: CpuToolchain, cache_folder: Path
) -> Iterator[dict[str, Future[ProgramRun]]]:
    """The runs of all programs that were asked for, built side by side."""
    toolchain.warm()
    cache = BuildCache(cache_folder)

    def build_and_run(name: str) -> ProgramRun:
        build = build_program([PROGRAMS / f"{name}.cu"], cache=cache)
        return run_program(build, deadline_s=_DEADLINE_S)

    # In the order of the tests, so that none waits for a build that another one needs.
    wanted = [
        str(item.callspec.params["name"])
        for item in request.session.items
        if item.path == request.path and isinstance(item, pytest.Function)
    ]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield {name: pool.submit(build_and_run, name) for name in wanted}


@pytest.mark.parametrize("name", NAMES)
def test_a_right_program_finds_its_answers(runs: dict[str, Future[ProgramRun]], name: str) -> None:
    run = runs[name].result()
    first_line = (PROGRAMS / f"{name}.cu").read_text().partition("\n")[0]
    says = first_line.removeprefix("// prints: ") + "\n" if "// prints: " in first_line else ""
    assert (run.status, run.output) == (0, f"{says}ok\n")
