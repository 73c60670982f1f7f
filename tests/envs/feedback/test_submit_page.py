from __future__ import annotations

from collections.abc import Callable

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.feedback.submit_page import describe_settlement
from cuda_gym.envs.reward import REWARDS, Ledger

FILES = Submission.of({"kernels/relu.cu": "first\n\tx = y;\n", "model_new.py": ""})
OTHERS = Submission.of({"model_new.py": "pass"})
Judged = Callable[..., Verdict]


def book(*measured: tuple[Submission, Verdict], reward: str = "speedup") -> Ledger:
    ledger = Ledger(reward=REWARDS[reward])
    for files, verdict in measured:
        ledger = ledger.record(files, verdict)
    return ledger


def test_a_settlement_without_anything_handed_in_says_so() -> None:
    assert "nothing was handed in" in describe_settlement(None, FILES, paid=0.0)


def test_it_says_how_it_ended_on_which_files_and_what_was_paid_for(make_verdict: Judged) -> None:
    final = make_verdict(Outcome.CORRECT, 2.0)
    text = describe_settlement(
        final, FILES, paid=2.0, ledger=book((FILES, final)), present=FILES
    ).split("\n")
    assert text[0] == "The episode is over: right. 2.00x as fast as torch.compile."
    assert text[1] == "Final judgement, on new hidden inputs, of kernels/relu.cu, model_new.py."
    assert text[-1] == (
        "It returned 2 in all: the speed-up over torch.compile in this judgement, 0 without a right kernel."
    )
    assert not any("Before" in line for line in text)


def test_a_difference_to_the_profile_is_told_with_what_to_think_of_it(make_verdict: Judged) -> None:
    first, final = make_verdict(Outcome.CORRECT, 2.02), make_verdict(Outcome.CORRECT, 2.0)
    ledger = book((FILES, first), (FILES, final))
    text = describe_settlement(final, FILES, paid=2.0, ledger=ledger, present=FILES)
    assert "measured 2.02x; this judgement alone counts. The difference is -1%, within" in text
    final = make_verdict(Outcome.CORRECT, 1.5)
    ledger = book((FILES, first), (FILES, final))
    text = describe_settlement(final, FILES, paid=1.5, ledger=ledger, present=FILES)
    assert "-26%, more than the noise of either" in text


def test_files_that_were_right_and_are_wrong_now_are_told_why_they_are_not_paid(
    make_verdict: Judged,
) -> None:
    first, final = make_verdict(Outcome.CORRECT, 2.0), make_verdict(Outcome.WRONG)
    ledger = book((FILES, first), (FILES, final))
    text = describe_settlement(final, FILES, paid=0.0, ledger=ledger, present=FILES)
    assert text.startswith("The episode is over: wrong.")
    assert "Before, these files were right, at 2.00x. The hidden inputs are new each time" in text
    assert "every 8th element" in text


def test_files_that_are_not_the_latest_are_said_to_be_the_best(make_verdict: Judged) -> None:
    best, late = make_verdict(Outcome.CORRECT, 2.0), make_verdict(Outcome.CORRECT, 1.0)
    final = make_verdict(Outcome.CORRECT, 2.0)
    ledger = book((FILES, best), (OTHERS, late), (FILES, final))
    text = describe_settlement(final, FILES, paid=2.0, ledger=ledger, present=OTHERS)
    assert "the best of 2 versions that were timed, not the latest." in text


def test_each_reward_says_what_it_pays_for(make_verdict: Judged) -> None:
    final = make_verdict(Outcome.CORRECT, 2.0)
    said = {
        describe_settlement(final, FILES, paid=1.0, ledger=book(reward=name)).split("in all")[1]
        for name in REWARDS
    }
    assert len(said) == len(REWARDS)
    assert "." not in said
