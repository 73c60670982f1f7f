import json
import subprocess
from pathlib import Path

import pytest

from cuda_gym.core.findings import MemoryFinding
from cuda_gym.judge.toolchains.cuda_on_cpu.checking import read_findings
from cuda_gym.judge.toolchains.cuda_on_cpu.source_lines import SourceLines

NOWHERE = Path("/nonexistent")


def line(**changes: object) -> str:
    party = {"does": "reads", "place": 16, "thread": [1, 0, 0], "block": [2, 0, 0]}
    plain = {"kind": "data race", "text": "4 bytes at `x` + 0", "kernel": "k", "parties": [party]}
    return json.dumps({**plain, **changes}) + "\n"


def read(text: str, library: Path = NOWHERE) -> tuple[MemoryFinding, ...]:
    return read_findings(text, library, is_own=lambda file: file.endswith("k.cu"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines")
    source = folder / "k.cpp"
    source.write_text(
        '#line 1 "header.h"\n'
        "static inline __attribute__((always_inline)) int deep(volatile int* x) { return *x + 1; }\n"
        '#line 20 "k.cu"\n'
        'extern "C" int here(volatile int* x) {\n'
        "  return deep(x);\n"
        "}\n"
    )
    built = folder / "k.so"
    flags = ["-g1", "-gdwarf-4", "-O1", "-shared", "-fPIC"]
    subprocess.run(["g++", *flags, "-o", built, source], check=True)
    return built


def place_of(library: Path, name: str) -> int:
    symbols = subprocess.run(["nm", library], check=True, capture_output=True, text=True).stdout
    return int(next(s.split()[0] for s in symbols.splitlines() if s.split()[-1] == name), 16)


def test_a_place_is_told_with_the_calls_that_were_inlined_around_it(library: Path) -> None:
    lines = SourceLines(library)
    chain = lines.chain(place_of(library, "here"))
    assert [(Path(line.file).name, line.line) for line in chain] in (
        [("header.h", 1), ("k.cu", 21)],
        [("k.cu", 20)],
    )


def test_a_finding_names_the_innermost_line_of_its_author(library: Path) -> None:
    start = place_of(library, "here")
    for place in range(start, start + 4):
        party = {"does": "reads", "place": place, "thread": [0, 0, 0], "block": [0, 0, 0]}
        (finding,) = read(line(parties=[party]), library)
        assert finding.sides[0].file is not None
        assert finding.sides[0].file.endswith("k.cu")


def test_a_place_that_no_line_is_known_of_is_still_a_finding() -> None:
    library = Path(__file__)
    (finding,) = read_findings(line(), library, is_own=bool)
    assert finding.sides[0].line is None
    assert "thread (1, 0, 0) of block (2, 0, 0) reads" in str(finding)


@pytest.mark.parametrize(
    "text",
    [
        "no json\n",
        "[]\n",
        "{}\n",
        line(kind="a compliment"),
        line(parties=[{"does": "reads"}]),
        line(parties="many"),
        line(parties=[{"does": "reads", "place": "x"}]),
    ],
)
def test_what_the_runtime_does_not_write_is_left_out(text: str) -> None:
    assert read_findings(text, Path(__file__), is_own=bool) == ()


def test_two_copies_of_one_barrier_are_no_divergence(library: Path) -> None:
    place = place_of(library, "here")
    party = {"does": "waits", "place": place, "thread": [0, 0, 0], "block": [0, 0, 0]}
    text = "threads meet at different barriers"
    found = line(kind="divergent barrier", text=text, parties=[party, party])
    assert read(found, library) == ()


def test_equal_findings_are_told_once() -> None:
    assert len(read_findings(line() + line(), Path(__file__), is_own=bool)) == 1
