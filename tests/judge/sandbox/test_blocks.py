"""The reference's side of a race knows which hidden draws it did without."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from cuda_gym.judge.sandbox.blocks import ReferenceBlocks
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.draw_plan import PlannedDraw

REGION = {"number": 1, "num_bytes": 8}


class Reference:
    """Hides the draws that it is asked for, or none."""

    def __init__(self, *, bears_them: bool) -> None:
        self.bears_them = bears_them

    def call(self, method: str, *, hidden: Any, **_: Any) -> tuple[Any, tuple[int, ...]]:
        assert method == "contents"
        value = {
            "inputs": [],
            "outputs": [],
            "content_bytes": 8,
            "hides": bool(hidden) and self.bears_them,
        }
        regions = {"input_region": REGION, "output_region": REGION}
        return {**value, **regions}, tuple(os.dup(0) for _ in range(2))


@pytest.mark.parametrize(("bears_them", "num_left_out"), [(True, 0), (False, 2)])
def test_hidden_draws_that_memory_did_not_bear_are_counted(
    bears_them: bool, num_left_out: int
) -> None:
    reference: Any = Reference(bears_them=bears_them)
    hidden = {n: PlannedDraw(weights=1, kind="spiky", seed=n) for n in (1, 2)}
    blocks = ReferenceBlocks(reference, Deadlines(), random.Random(0), hidden=hidden, settle_s=0.0)
    for sealed in (False, True, False, False, False):
        blocks.new_contents(3, sealed=sealed)
    blocks.close()
    assert blocks.num_left_out == num_left_out
