from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core import Stage
from cuda_gym.envs.observation import METRIC_BOUND, cut, observe


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=2000), st.integers(200, 1000))
def test_a_cut_text_keeps_head_and_tail_and_counts_the_rest(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert short[:70] == text[:70]
    assert short[-70:] == text[-70:]
    if short != text:
        missing = int(short.split("[... ")[-1].split(" ")[0].replace(",", ""))
        head, tail = short.split(f"\n[... {missing:,} characters cut ...]\n")
        assert len(head) + missing + len(tail) == len(text)


def test_an_observation_is_valid_text_and_finite_numbers() -> None:
    metrics = {"speedup": math.inf, "time_us": math.nan, "compile_us": 1e30, "reward": -1}
    observation = observe("\ud800µ", Stage.START, metrics, max_chars=200)
    assert observation.text == "?µ"
    assert observation.metrics == {"compile_us": METRIC_BOUND, "reward": -1.0}


def test_a_metric_without_a_name_in_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no metric 'spedup'"):
        observe("", Stage.START, {"spedup": 1.0}, max_chars=200)
