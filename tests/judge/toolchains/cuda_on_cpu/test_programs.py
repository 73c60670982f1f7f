"""Each program of `tests/cuda_programs/right` finds its own answers right on the cpu device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path

import pytest
from tests.judge.toolchains.cuda_on_cpu.in_parallel import in_parallel

from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_program import ProgramRun, build_program, run_program

PROGRAMS = Path(__file__).parents[3] / "cuda_programs" / "right"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.cu"))
_DEADLINE_S = 30.0


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, toolchain: CpuToolchain, cache_folder: Path
) -> Iterator[Mapping[str, Future[ProgramRun]]]:
    """The runs of all programs that were asked for, built side by side."""
    toolchain.warm()
    cache = BuildCache(cache_folder)

    def build_and_run(name: str) -> ProgramRun:
        build = build_program([PROGRAMS / f"{name}.cu"], cache=cache)
        return run_program(build, deadline_s=_DEADLINE_S)

    with in_parallel(request, build_and_run) as runs:
        yield runs


@pytest.mark.parametrize("name", NAMES)
def test_a_right_program_finds_its_answers(
    runs: Mapping[str, Future[ProgramRun]], name: str
) -> None:
    run = runs[name].result()
    first_line = (PROGRAMS / f"{name}.cu").read_text().partition("\n")[0]
    says = first_line.removeprefix("// prints: ") + "\n" if "// prints: " in first_line else ""
    assert (run.status, run.output) == (0, f"{says}ok\n")
