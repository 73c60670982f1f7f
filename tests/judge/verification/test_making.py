"""Equal seeds give equal draws, and no generator is left as a task has drawn from it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

from cuda_gym.judge.verification.making import generators_kept, make_there, seeded

CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)
SEEDS = [0, 7, 2**32 + 5, 2**63 - 1, -1]


def drawn() -> list[Any]:
    return [torch.rand(3).tolist(), torch.randn(2).tolist(), np.random.rand(), random.random()]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_what_the_generators_own_seeding_gives(seed: int) -> None:
    with generators_kept(CPU):
        torch.manual_seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        expected = drawn()
    assert make_there(drawn, seed, CPU) == expected
    with generators_kept(CPU):
        assert make_there(drawn, seed, CPU) == expected
        assert make_there(drawn, seed, CPU) == expected


def test_all_generators_are_put_back_whether_once_for_each_draw_or_once_for_all() -> None:
    with seeded(1, CPU):
        untouched = [drawn(), drawn()]
    with seeded(1, CPU):
        first = drawn()
        with seeded(2, CPU):
            inside = drawn()
        with generators_kept(CPU), pytest.raises(ZeroDivisionError):
            make_there(lambda: drawn()[0][0] / 0, 3, CPU)
        assert [first, drawn()] == untouched
    assert inside == make_there(drawn, 2, CPU)


def test_to_seed_queues_nothing_for_devices_that_are_not_there() -> None:
    before = len(torch.cuda._queued_calls)
    tracker = torch.xpu._lazy_seed_tracker if hasattr(torch.xpu, "_lazy_seed_tracker") else None
    queued = None if tracker is None else list(tracker.get_calls())
    with seeded(1, CPU):
        assert len(torch.cuda._queued_calls) == before
        assert tracker is None or list(tracker.get_calls()) == queued


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_on_a_gpu_its_own_generator_is_seeded_and_put_back() -> None:
    def on_gpu() -> list[float]:
        return [*torch.rand(3, device=GPU).tolist(), *torch.rand(2).tolist()]

    state = torch.cuda.get_rng_state(GPU)
    torch.manual_seed(5)
    expected = [*torch.rand(3, device=GPU).tolist()]
    torch.cuda.set_rng_state(state, GPU)
    with generators_kept(GPU):
        made = [make_there(on_gpu, 5, GPU) for _ in range(2)]
    assert made[0] == made[1] == make_there(on_gpu, 5, GPU)
    assert made[0][:3] == expected
    assert torch.equal(torch.cuda.get_rng_state(GPU), state)
