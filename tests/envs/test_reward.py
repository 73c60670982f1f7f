from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.reward import REWARDS, Ledger, Reward, log_speedup, milestone, pooled, speedup

Make = Callable[..., Verdict]


def files(name: object) -> Submission:
    return Submission.of({"model_new.py": f"# {name}"})


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.CORRECT])
@pytest.mark.parametrize("reward", REWARDS.values(), ids=REWARDS.keys())
def test_the_slowest_right_kernel_beats_every_wrong_one_and_doing_nothing(
    make_verdict: Make, reward: Reward, outcome: Outcome
) -> None:
    slowest = reward.phi(make_verdict(Outcome.CORRECT, 1e-4))
    assert slowest > reward.phi(make_verdict(outcome)) == reward.phi(None)


def test_log_speedup_counts_doublings_and_is_bounded_below(make_verdict: Make) -> None:
    assert log_speedup(make_verdict(Outcome.CORRECT, 4.0)) == 2.0
    assert log_speedup(make_verdict(Outcome.CORRECT, 0.5)) == -1.0
    assert log_speedup(make_verdict(Outcome.CORRECT, 0.01)) == -1.0


@pytest.mark.parametrize(
    ("ratio", "eager_us", "value"),
    [
        (1.0, 100.0, 1.0),
        (1.05, 100.0, 1.0),
        (1.06, 100.0, 3.0),
        (1.0, 200.0, 2.0),
        (2.0, 40.0, 1.0),
        (2.0, None, 3.0),
        (1.0, None, 1.0),
    ],
)
def test_milestone_is_the_papers_table_with_its_margin(
    make_verdict: Make, ratio: float, eager_us: float | None, value: float
) -> None:
    assert milestone(make_verdict(Outcome.CORRECT, ratio, eager_us=eager_us)) == value


def test_pooling_takes_the_lower_middle_and_never_the_best(make_verdict: Make) -> None:
    verdicts = tuple(make_verdict(Outcome.CORRECT, s) for s in (1.3, 0.9, 1.0, 1.1))
    assert speedup(pooled(verdicts)) == pytest.approx(1.0, abs=1e-7)
    assert speedup(pooled(verdicts[:1])) == pytest.approx(1.3, abs=1e-7)
    assert speedup(pooled(verdicts[:2])) == pytest.approx(0.9, abs=1e-7)


def test_a_submission_that_once_failed_counts_as_failed(make_verdict: Make) -> None:
    ledger = Ledger(reward=REWARDS["speedup"])
    ledger, first = ledger.record(files(1), make_verdict(Outcome.CORRECT, 2.0)).pay()
    ledger, second = ledger.record(files(1), make_verdict(Outcome.WRONG)).pay()
    assert (first, second) == (2.0, -2.0)
    assert ledger.best is None


def test_a_settled_ledger_pays_nothing_more(make_verdict: Make) -> None:
    ledger, _ = Ledger(reward=REWARDS["speedup"]).settle(make_verdict(Outcome.CORRECT, 2.0))
    ledger = ledger.record(files(1), make_verdict(Outcome.CORRECT, 9.0))
    assert ledger.pay()[1] == 0.0
    assert ledger.settle(make_verdict(Outcome.CORRECT, 9.0))[1] == 0.0


histories = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([Outcome.CORRECT, Outcome.CORRECT, Outcome.CORRECT, Outcome.WRONG]),
        st.floats(1e-4, 1e6, allow_nan=False),
    ),
    max_size=12,
)


@pytest.mark.parametrize("reward", REWARDS.values(), ids=REWARDS.keys())
@settings(max_examples=60, deadline=None)
@given(history=histories, outcome=st.sampled_from(Outcome), final_speedup=st.floats(1e-4, 1e6))
def test_the_return_is_exactly_the_difference_of_potentials(
    reward: Reward,
    history: list[tuple[int, Outcome, float]],
    outcome: Outcome,
    final_speedup: float,
) -> None:
    from_ledger = _verdict(outcome, final_speedup)
    ledger, rewards = Ledger(reward=reward), []
    for name, measured, ratio in history:
        ledger, paid = ledger.record(files(name), _verdict(measured, ratio)).pay()
        rewards.append(paid)
    ledger, paid = ledger.settle(from_ledger)
    rewards.append(paid)
    counted = None if outcome is Outcome.REFUSED else from_ledger
    promised = reward.phi(counted) - reward.phi(None)
    assert math.fsum(rewards) == sum(rewards) == sum(reversed(rewards)) == promised == ledger.paid


def test_profiling_twenty_times_raises_the_mean_return_by_less_than_one_percent() -> None:
    """A 1.00x kernel with 4 % noise, in trivially different variants, so that pooling is no help."""
    source = random.Random(1)

    def play(num_profiles: int, num_variants: int) -> float:
        ledger = Ledger(reward=REWARDS["speedup"])
        for i in range(num_profiles):
            measured = _verdict(Outcome.CORRECT, source.gauss(1.0, 0.04))
            ledger, _ = ledger.record(files(i % num_variants), measured).pay()
        ledger, _ = ledger.settle(_verdict(Outcome.CORRECT, source.gauss(1.0, 0.04)))
        return ledger.paid

    once = fmean(play(1, 1) for _ in range(600))
    assert fmean(play(20, 1) for _ in range(600)) < 1.01 * once
    assert fmean(play(20, 20) for _ in range(600)) < 1.01 * once


def _verdict(outcome: Outcome, ratio: float) -> Verdict:
    return _MAKE[0](outcome, ratio)


_MAKE: list[Make] = []


@pytest.fixture(autouse=True)
def _remember_the_maker(make_verdict: Make) -> None:
    """Hypothesis draws its own arguments, so its tests take the maker from here."""
    _MAKE[:] = [make_verdict]
