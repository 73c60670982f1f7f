from __future__ import annotations

from collections.abc import Callable

import pytest

from cuda_gym.core import Findings, Outcome, Submission, Verdict
from cuda_gym.envs.feedback.profile_page import describe_verdict

FILES = Submission.of({"kernels/relu.cu": "first\n\tx = y;\n", "model_new.py": ""})
Find = Callable[[Outcome | None], Findings]


def test_a_verdict_shows_times_ratios_and_interval(make_verdict: Callable[..., Verdict]) -> None:
    text = describe_verdict(make_verdict(Outcome.CORRECT, 2.0), FILES)
    assert "yours            50.0 us" in text
    assert "torch.compile   100.0 us               2.00x  [1.96, 2.04]" in text
    assert "eager           120.0 us               2.40x" in text
    assert "load 0.50" in text


@pytest.mark.parametrize(
    ("speedup", "advice"), [(0.5, "slower than"), (1.0, "within the noise"), (3.0, "submit")]
)
def test_the_advice_follows_the_interval(
    make_verdict: Callable[..., Verdict], speedup: float, advice: str
) -> None:
    text = describe_verdict(make_verdict(Outcome.CORRECT, speedup), FILES)
    assert advice in text.split("Next:")[1]
