from __future__ import annotations

import random

import pytest

from cuda_gym.models.retries import Retries, retry_after_s


def test_waits_double_up_to_the_longest_and_at_least_half_of_one_is_certain() -> None:
    retries = Retries(first_wait_s=1.0, longest_wait_s=8.0)
    for attempt, whole in enumerate([1.0, 2.0, 4.0, 8.0, 8.0, 8.0]):
        waits = [retries.wait_s(attempt, None, random.Random(seed)) for seed in range(50)]
        assert whole / 2 <= min(waits) < max(waits) <= whole


def test_what_the_server_asks_for_is_waited_at_least() -> None:
    waits = [Retries().wait_s(0, 5.0, random.Random(seed)) for seed in range(50)]
    assert 5.0 <= min(waits) < max(waits) <= 5.5


@pytest.mark.parametrize("value", [None, "", "soon", "nan", "Mon, 99 Foo 2026 00:00:00 GMT"])
def test_a_retry_after_that_says_nothing_is_none(value: str | None) -> None:
    assert retry_after_s(value, 0.0) is None


def test_a_date_that_has_passed_asks_for_no_wait() -> None:
    assert retry_after_s("Thu, 01 Jan 1970 00:00:09 GMT", 60.0) == 0.0


def test_retries_without_an_attempt_cannot_be() -> None:
    with pytest.raises(ValueError, match="got 0"):
        Retries(num_attempts=0)
