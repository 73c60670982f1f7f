"""Sealed blocks on a GPU: nothing can be read before the gate opens, and what is summed up was there."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
from cuda_gym.judge.sandbox.cuda_sealing import CudaSealing
from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.sealed_page import SealedPage, Witnessed, new_key
from cuda_gym.judge.toolchains.cuda import CudaToolchain

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

COUNT = 1 << 20
SPEC = TensorSpec(dtype="float32", shape=(COUNT,), offset=0)


def test_a_block_runs_when_its_gate_opens_and_not_before() -> None:
    device = torch.device("cuda:0")
    torch.zeros(1, device=device)
    sealing = CudaSealing(Path(CudaToolchain(Device.parse("cuda:0")).own_kernels()), device)
    inputs, outputs = CudaRegion.create(4 * COUNT, 0), CudaRegion.create(4 * COUNT, 0)
    values, key = torch.randn(COUNT, device=device), new_key()
    for spec, part in sealing.sealed([(SPEC, values)], key):
        inputs.tensor(spec).copy_(part)
    outputs.flat().zero_()
    torch.cuda.synchronize()
    sealed = inputs.tensor(SPEC).clone()
    assert not torch.any(sealed == values)
    page, seen = SealedPage.create(num_outputs=1), list[Witnessed]()
    witness = threading.Thread(
        target=lambda: seen.append(page.witness(key, queue_s=5.0, most_s=5.0))
    )
    result = outputs.tensor(SPEC)
    torch.mul(
        values, 2.0, out=torch.empty_like(values)
    )  # loaded: what waits cannot be loaded behind a gate
    done: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def produce() -> list[torch.Tensor]:
        torch.mul(inputs.tensor(SPEC), 2.0, out=result)
        done.record()
        time.sleep(0.05)
        assert not done.query()
        return [result]

    sealing.run(
        SealedPage.open(page.export()), inputs, produce, [4 * COUNT], when_queued=witness.start
    )
    witness.join()
    assert torch.equal(result, values * 2.0)
    assert torch.equal(inputs.tensor(SPEC), values)
    [one] = seen
    assert one.was_queued
    assert one.digest == sealing.digest_of([result])
    assert 0.0 < one.wall_us < 20_000.0
    result[12345] += 1.0
    assert one.digest != sealing.digest_of([result])
    page.close()
