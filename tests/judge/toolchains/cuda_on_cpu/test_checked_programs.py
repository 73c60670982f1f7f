"""The checking build names every bug of the buggy programs and accuses none of the right ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path

import pytest
from tests.judge.toolchains.cuda_on_cpu import buggy_programs
from tests.judge.toolchains.cuda_on_cpu.in_parallel import in_parallel

from cuda_gym.core.findings import MemoryFinding
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_program import ProgramRun, build_program, check_program

RIGHT = Path(__file__).parents[3] / "cuda_programs" / "right"
PROGRAMS = {p.stem: p for folder in (RIGHT, buggy_programs.PROGRAMS) for p in folder.glob("*.cu")}
_DEADLINE_S = 30.0
_NEEDS_SEVERAL_BLOCKS_AT_ONCE = {"producer_consumer_flags"}
"""The checking build runs blocks one after another."""

Checked = tuple[ProgramRun, tuple[MemoryFinding, ...]]


@pytest.fixture(scope="module")
def checks(
    request: pytest.FixtureRequest, toolchain: CpuToolchain, cache_folder: Path
) -> Iterator[Mapping[str, Future[Checked]]]:
    """All programs that were asked for, built side by side."""
    toolchain.warm()
    cache = BuildCache(cache_folder)

    def build_and_check(name: str) -> Checked:
        build = build_program([PROGRAMS[name]], checking=True, cache=cache)
        return check_program(build, deadline_s=_DEADLINE_S)

    with in_parallel(request, build_and_check) as checks:
        yield checks


@pytest.mark.parametrize("name", sorted(path.stem for path in RIGHT.glob("*.cu")))
def test_nothing_is_found_in_a_right_program(
    checks: Mapping[str, Future[Checked]], name: str
) -> None:
    ran, findings = checks[name].result()
    assert [str(finding) for finding in findings] == []
    assert ran.status == 0 or name in _NEEDS_SEVERAL_BLOCKS_AT_ONCE


@pytest.mark.parametrize("name", buggy_programs.NAMES)
def test_the_bug_of_a_buggy_program_is_named(
    checks: Mapping[str, Future[Checked]], name: str
) -> None:
    expected = buggy_programs.expected_finding(name)
    _, findings = checks[name].result()
    of_kind = [finding for finding in findings if finding.kind == expected.kind]
    assert expected.lines <= {side.line for finding in of_kind for side in finding.sides}
    # What the language's own checks find, an index or an alignment, is told without these two.
    by_language = any(side.does == "accesses" for f in of_kind for side in f.sides)
    if expected.access is not None and not by_language:
        assert any(side.does == f"{expected.access}s" for f in of_kind for side in f.sides)
    if expected.memory in ("shared", "global") and not by_language:
        assert any(f"({expected.memory} memory" in finding.text for finding in of_kind)
