from __future__ import annotations

import pickle

import numpy as np

from cuda_gym.core.episode import Observation, Stage
from cuda_gym.envs.observation import METRICS
from cuda_gym.envs.spaces import UnicodeText, action_space, as_arrays, observation_space


def test_any_character_is_text_and_only_length_counts() -> None:
    space = UnicodeText(3)
    assert all(text in space for text in ("", "\u2018\u2019\u00b5", "\U0001f600"))
    assert "abcd" not in space
    assert 3 not in space


def test_it_is_small_to_send_and_to_print() -> None:
    space = action_space()
    assert pickle.loads(pickle.dumps(space)) == space
    assert len(pickle.dumps(space)) < 10_000
    assert len(repr(space)) < 50


def test_samples_are_short_and_the_same_for_a_seed() -> None:
    one, other = action_space(), action_space()
    one.seed(5)
    other.seed(5)
    samples = [one.sample() for _ in range(20)]
    assert samples == [other.sample() for _ in range(20)]
    assert max(map(len, samples)) <= 256


def test_every_stage_and_number_has_a_place_in_the_space() -> None:
    space = observation_space(500)
    for stage in Stage:
        observation = Observation(text="t", stage=stage, metrics=dict.fromkeys(METRICS, 1e9))
        assert space.contains(as_arrays(observation))
    empty = as_arrays(Observation(text="", stage=Stage.START))
    assert space.contains(empty)
    assert not np.any(empty["metrics_present"])
