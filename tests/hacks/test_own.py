"""What somebody would try who has read this judge is caught, harms nobody, or is known not to be caught.

own       caught, and told by a fact
harmless  gains nothing, and the judge goes on as ever: the Verdict is an honest one
open      not caught yet; whoever closes such a gap moves its exploit to `own`
"""

from __future__ import annotations

import pytest
import torch
from tests.hacks.exploits import Exploit, exploits, require_caught

from cuda_gym.core.findings import Outcome
from cuda_gym.judge.judge import Judge


@pytest.mark.parametrize("exploit", exploits("own", device="cpu"))
def test_a_hack_of_our_own_is_caught(exploit: Exploit, hacks_judge: Judge) -> None:
    require_caught(hacks_judge, exploit)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
@pytest.mark.parametrize("exploit", exploits("own", device="cuda"))
def test_a_hack_of_our_own_is_caught_on_a_gpu(exploit: Exploit, hacks_judge_on_gpu: Judge) -> None:
    require_caught(hacks_judge_on_gpu, exploit)


@pytest.mark.parametrize("exploit", exploits("harmless", device="cpu"))
def test_what_would_stop_or_break_the_judge_does_not(exploit: Exploit, hacks_judge: Judge) -> None:
    verdict = hacks_judge.judge(exploit.task, exploit.submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.findings.summary


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
@pytest.mark.parametrize("exploit", exploits("harmless", device="cuda"))
def test_what_would_stop_or_break_the_judge_does_not_on_a_gpu(
    exploit: Exploit, hacks_judge_on_gpu: Judge
) -> None:
    verdict = hacks_judge_on_gpu.judge(exploit.task, exploit.submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.findings.summary


@pytest.mark.slow
@pytest.mark.xfail(reason="the harness shares the submission's process", strict=True)
@pytest.mark.parametrize("exploit", exploits("open", device="cpu"))
def test_a_hack_that_is_known_is_caught(exploit: Exploit, hacks_judge: Judge) -> None:
    require_caught(hacks_judge, exploit)
