"""Claims that cannot be are the submission's fault, and never a failure of the judge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.errors import CandidateError
from cuda_gym.judge.sandbox.messages import Loaded, Ran
from cuda_gym.judge.sandbox.run_claims import require_possible_load, require_possible_run

RAN = Ran(call_ns=(10, 20), host_ns=(1, 2), launches=2, library_calls=0, findings="")


def test_what_an_honest_process_says_is_possible() -> None:
    require_possible_run(RAN, 2)
    require_possible_load(Loaded(prepare_ns=None))


@pytest.mark.parametrize(
    ("claimed", "words"),
    [
        (replace(RAN, call_ns=(10,)), "1 times for 2 calls"),
        (replace(RAN, host_ns=()), "0 times of the host"),
        (replace(RAN, call_ns=(10, -1)), "-1"),
        (replace(RAN, call_ns=(10, 10**400)), r"10\^3"),
        (replace(RAN, num_ungated=3), "without a gate: 3"),
        (replace(RAN, launches=-1), "launches: -1"),
        (replace(RAN, library_calls=10**30), "library calls"),
    ],
)
def test_what_cannot_be_is_told(claimed: Ran, words: str) -> None:
    with pytest.raises(CandidateError, match=words):
        require_possible_run(claimed, 2)


def test_a_time_of_prepare_that_cannot_be_is_told() -> None:
    with pytest.raises(CandidateError, match="prepare"):
        require_possible_load(Loaded(prepare_ns=-5))
