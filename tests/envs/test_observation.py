from __future__ import annotations

import math

import pytest

from cuda_gym.core.episode import Stage
from cuda_gym.envs.observation import METRIC_BOUND, observe


def test_an_observation_is_valid_text_and_finite_numbers() -> None:
    metrics = {"speedup": math.inf, "time_us": math.nan, "compile_us": 1e30, "reward": -1}
    observation = observe("\ud800µ", Stage.START, metrics, max_chars=200)
    assert observation.text == "?µ"
    assert observation.metrics == {"compile_us": METRIC_BOUND, "reward": -1.0}


def test_a_metric_without_a_name_in_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no metric 'spedup'"):
        observe("", Stage.START, {"spedup": 1.0}, max_chars=200)


def test_an_observation_is_folded_before_it_is_cut() -> None:
    text = "start\n" + "reading past the end of x\n" * 500 + "end"
    observation = observe(text, Stage.START, {}, max_chars=200)
    assert observation.text.split("\n")[2:] == ["[the line above 499 times more]", "end"]
