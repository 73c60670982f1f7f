import json
import math
from pathlib import Path

import numpy as np
import pytest

from cuda_gym.agents.route_moa.training import Examples, Split, read_logs
from cuda_gym.errors import RosterError


def line(query: str, model: str, score: object) -> str:
    return json.dumps({"query": query, "model": model, "score": score, "when": "today"})


def test_logs_become_a_table_with_gaps(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(
        "\n".join(
            [line("q1", "a", 1), line("q2", "b", 0.5), "", line("q1", "b", 0), line("q1", "b", 1)]
        )
    )
    examples = read_logs(path)
    assert (examples.queries, examples.names) == (("q1", "q2"), ("a", "b"))
    np.testing.assert_array_equal(examples.labels, [[1.0, 0.5], [math.nan, 0.5]])


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "is no graded answer"),
        ('["q", "a", 1]', "is no graded answer"),
        ('{"query": "q", "model": "a"}', "is no graded answer"),
        (line("q", "a", 7), r"a score is a number in \[0, 1\]; got 7"),
        (line("q", "a", math.nan), "got nan"),
        (line("q", "a", True), "got True"),
        (line("q", "a", "high"), "got 'high'"),
        ('{"query": 1, "model": "a", "score": 1}', "query and model are strings"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_by_its_number(
    bad: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(line("q", "a", 1) + "\n" + bad + "\n")
    with pytest.raises(RosterError, match=rf"log\.jsonl:2.*{why}"):
        read_logs(path)


def test_a_log_without_lines_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n")
    with pytest.raises(RosterError, match="at least one graded answer"):
        read_logs(path)


def test_no_row_is_both_learnt_from_and_held_out() -> None:
    split = Split.of(100, seed=1)
    assert [len(rows) for rows in (split.train, split.held_out, split.calibration)] == [80, 10, 10]
    assert sorted(np.concatenate([split.train, split.held_out, split.calibration])) == [*range(100)]


def test_examples_are_parted_by_lot_and_each_query_keeps_its_labels() -> None:
    queries = tuple(f"q{number}" for number in range(50))
    labels = np.array([[number / 50, np.nan] for number in range(50)])
    both = Examples(queries=queries, names=("a", "b"), labels=labels)
    learn, check = both.parted(0.8, seed=1)
    assert (len(learn.queries), len(check.queries)) == (40, 10)
    assert sorted(learn.queries + check.queries) == sorted(queries)
    assert learn.queries != queries[:40]
    for part in (learn, check):
        assert [f"q{round(label * 50)}" for label in part.labels[:, 0]] == list(part.queries)


@pytest.mark.parametrize(
    ("number", "share"), [(1, 0.8), (2, 0.8), (50, 1.0), (50, 0.0), (50, 7.0), (50, math.nan)]
)
def test_a_part_without_any_query_is_refused(number: int, share: float) -> None:
    few = Examples(
        queries=tuple(f"q{one}" for one in range(number)),
        names=("a",),
        labels=np.zeros((number, 1)),
    )
    with pytest.raises(RosterError, match=f"^{number} .* one part would be empty: grade"):
        few.parted(share)


def test_a_file_of_logs_that_cannot_be_read_is_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b'{"query": "caf\xe9"}')
    for name in ("none", "latin"):
        with pytest.raises(RosterError, match=rf"{name} cannot be read .*JSON lines in UTF-8"):
            read_logs(tmp_path / name)
