"""One budget holds for every size of task: large ones have few contents, usual ones as many as they need."""

from __future__ import annotations

import pytest

from cuda_gym.judge.profiling.memory_budget import (
    CONTENTS_BYTES,
    PROCESSES_BYTES,
    contents_of_card,
    judgement_bytes,
)
from cuda_gym.judge.profiling.timing_plan import GPU_PLAN

GIB = 1 << 30


def contents(input_bytes: int, output_bytes: int) -> int:
    """Of a block, on a card that is large enough; as a match cuts them."""
    room = GPU_PLAN.max_content_bytes - GPU_PLAN.outputs_beside * output_bytes
    return max(GPU_PLAN.min_contents, room // (input_bytes + output_bytes))


@pytest.mark.parametrize(
    ("input_bytes", "output_bytes", "least"),
    [(256 * 393216 * 4, 256 * 393216 * 4, 12), (2 * GIB, 2 * GIB, 1), (4 * GIB, 4, 2)],
)
def test_every_block_fits_24_gb_with_all_copies(
    input_bytes: int, output_bytes: int, least: int
) -> None:
    count = contents(input_bytes, output_bytes)
    assert count >= least
    needed = judgement_bytes(input_bytes=input_bytes, output_bytes=output_bytes, contents=count)
    assert needed <= CONTENTS_BYTES + PROCESSES_BYTES == 24 * GIB
    assert GPU_PLAN.most_contents(input_bytes + output_bytes) >= count


def test_a_small_card_gives_a_part_and_a_large_one_no_more_than_is_needed() -> None:
    assert contents_of_card(24 * GIB) == 4 * GIB
    assert contents_of_card(1000 * GIB) == CONTENTS_BYTES
