"""Spaces for text of any language, and an Observation as the arrays Gymnasium wants."""

from __future__ import annotations

import string
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.vector.utils import create_shared_memory

from cuda_gym.core.episode import Observation, Stage
from cuda_gym.envs.observation import METRIC_BOUND, METRICS

__all__ = ["MAX_ACTION_CHARS", "UnicodeText", "action_space", "as_arrays", "observation_space"]

MAX_ACTION_CHARS = 1 << 24
"""Longer than any workspace; a longer action is answered, not refused by the space."""

_MAX_SAMPLE_CHARS = 256
_STAGE_NUMBERS = {stage: number for number, stage in enumerate(Stage)}


class UnicodeText(spaces.Text):
    """Text with any characters, up to a length.

    Gymnasium's `Text` has a closed character set, checks it in a Python loop, and prints it in every
    message; all of Unicode takes seconds and megabytes there. Here the set is for samples only.

    >>> "µs" in UnicodeText(10), "µs" in UnicodeText(1)
    (True, False)
    """

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=string.printable, seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether it is a string and not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short random text; a longer one would say no more."""
        if mask is None and probability is None:
            length = int(self.np_random.integers(min(self.max_length, _MAX_SAMPLE_CHARS) + 1))
            mask = (length, None)
        return super().sample(mask=mask, probability=probability)

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"


@create_shared_memory.register(UnicodeText)
def _refuse_shared_memory(space: UnicodeText, **_: Any) -> NoReturn:
    """Shared memory would silently show every text as '000...' (Gymnasium 1.4)."""
    raise CustomSpaceError(
        f"{space} has no fixed size, so it cannot lie in shared memory. Use shared_memory=False: "
        "gymnasium.make_vec(..., vectorization_mode='async', vector_kwargs={'shared_memory': False}), "
        "or the default vectorization_mode, which runs threads."
    )


def action_space() -> UnicodeText:
    """Any text."""
    return UnicodeText(MAX_ACTION_CHARS)


def observation_space(max_chars: int) -> spaces.Dict:
    """Text for language models; stage and numbers for small policies."""
    num_metrics = len(METRICS)
    return spaces.Dict(
        {
            "text": UnicodeText(max_chars),
            "stage": spaces.Discrete(len(Stage)),
            "metrics": spaces.Box(-METRIC_BOUND, METRIC_BOUND, (num_metrics,), np.float32),
            "metrics_present": spaces.MultiBinary(num_metrics),
        }
    )


def as_arrays(observation: Observation) -> dict[str, Any]:
    """An Observation as a member of `observation_space`; an absent number is 0 and marked absent."""
    metrics = observation.metrics
    return {
        "text": observation.text,
        "stage": np.int64(_STAGE_NUMBERS[observation.stage]),
        "metrics": np.array([metrics.get(name, 0.0) for name in METRICS], dtype=np.float32),
        "metrics_present": np.array([name in metrics for name in METRICS], dtype=np.int8),
    }
