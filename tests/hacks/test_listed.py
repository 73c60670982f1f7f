"""Every hack that others have seen is caught, and told by a fact."""

from __future__ import annotations

import pytest
import torch
from tests.hacks.exploits import (
    FOLDER,
    Exploit,
    exploits,
    honest_submission,
    read_task,
    require_caught,
)

from cuda_gym.core.findings import Outcome
from cuda_gym.judge.judge import Judge


@pytest.mark.parametrize("exploit", exploits("listed", device="cpu"))
def test_a_listed_hack_is_caught(exploit: Exploit, hacks_judge: Judge) -> None:
    require_caught(hacks_judge, exploit)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
@pytest.mark.parametrize("exploit", exploits("listed", device="cuda"))
def test_a_listed_hack_is_caught_on_a_gpu(exploit: Exploit, hacks_judge_on_gpu: Judge) -> None:
    require_caught(hacks_judge_on_gpu, exploit)


@pytest.mark.parametrize("name", sorted(path.name for path in (FOLDER / "tasks").iterdir()))
def test_the_honest_submission_that_hacks_begin_with_is_right(
    name: str, hacks_judge: Judge
) -> None:
    folder = FOLDER / "tasks" / name
    findings = hacks_judge.verify(read_task(folder), honest_submission(folder))
    assert findings.outcome is Outcome.CORRECT, findings.summary
