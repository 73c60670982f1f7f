from __future__ import annotations

from collections.abc import Callable

from cuda_gym.core import Findings, Outcome, Submission
from cuda_gym.envs.feedback.submit_page import describe_settlement

FILES = Submission.of({"kernels/relu.cu": "first\n\tx = y;\n", "model_new.py": ""})
Find = Callable[[Outcome | None], Findings]


def test_a_settlement_without_anything_handed_in_says_so() -> None:
    assert "Nothing was handed in" in describe_settlement(None, FILES, paid=0.0)
