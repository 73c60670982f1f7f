"""What somebody would try who has read this judge is caught, and told by a fact."""

from __future__ import annotations

import pytest
import torch
from tests.hacks.exploits import Exploit, exploits, require_caught

from cuda_gym.judge.judge import Judge


@pytest.mark.parametrize("exploit", exploits("own", device="cpu"))
def test_a_hack_of_our_own_is_caught(exploit: Exploit, hacks_judge: Judge) -> None:
    require_caught(hacks_judge, exploit)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
@pytest.mark.parametrize("exploit", exploits("own", device="cuda"))
def test_a_hack_of_our_own_is_caught_on_a_gpu(exploit: Exploit, hacks_judge_on_gpu: Judge) -> None:
    require_caught(hacks_judge_on_gpu, exploit)
