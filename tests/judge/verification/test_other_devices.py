"""All of verification on another device: nothing may mix it with the host, or make tensors there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from tests.judge.verification.other_device import OTHER, MixedDevices, OtherDevice
from torch import Tensor

from cuda_gym.judge.verification.admission import admit
from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.gold import GoldKind
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs, perturbed_state
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.work import work_of
from cuda_gym.tasks.registry import load_task

TASKS = [
    "softmax", "cross_entropy", "embedding", "argmax_rows", "batch_norm_relu", "half_layer_norm",
    "index_add",
]  # fmt: skip
"""Floating and integer inputs, parameters, running statistics, tables, index outputs, half precision."""


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherDevice]:
    mode = OtherDevice()

    class Generator:
        """In place of torch's class, which knows no device that is not there."""

        def __new__(cls, device: torch.device | str = "cpu") -> Any:
            return mode.generator(torch.device(device))

    monkeypatch.setattr(torch, "Generator", Generator)
    with mode:
        yield mode


def small(name: str, device: torch.device | str) -> ReferenceModule:
    """A core task with a few rows."""
    source = re.sub(
        r"^(batch_size|num_rows) = \d+", r"\1 = 24", load_task(f"core/{name}").source, flags=re.M
    )
    source = re.sub(r"^(height|width|num_positions) = \d+", r"\1 = 12", source, flags=re.M)
    return ReferenceModule(source, name=name, device=device)


def wrong_outputs(right: Tensor) -> Iterator[Tensor]:
    yield right.flip(-1)
    yield torch.zeros_like(right)
    part = right.clone()
    part[len(part) // 2 :] = 0
    yield part
    if right.is_floating_point():
        yield right * 1.5
        yield torch.where(right > right.mean(), torch.nan, right)
        yield right + right[..., :1]


def test_the_played_device_refuses_what_a_gpu_refuses(other: OtherDevice) -> None:
    there, here = torch.ones(3, device=OTHER), torch.ones(3)
    assert there.device == OTHER
    assert (there + 1).device == OTHER
    assert (there + torch.tensor(2.0)).device == OTHER
    assert there.cpu().device == here.device
    assert here.to(OTHER).to(there).device == OTHER
    with pytest.raises(MixedDevices):
        there + here
    with pytest.raises(MixedDevices):
        torch.cat([there, here])
    with pytest.raises(MixedDevices):
        there.numpy()
    with pytest.raises(MixedDevices):
        torch.rand(3, generator=torch.Generator(OTHER))
    assert there.cpu().numpy().sum() == 3


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_admitted_judged_and_weighed_on_its_device(name: str, other: OtherDevice) -> None:
    reference = small(name, OTHER)
    admission = admit(reference, seed=0)
    assert admission == admit(small(name, "cpu"), seed=0)
    model = reference.make_model(0)
    model.load_state_dict(perturbed_state(model, 1))
    assert all(tensor.device == OTHER for tensor in model.state_dict().values())
    for kind in dict.fromkeys(admission.draw_kinds):
        draw = draw_inputs(reference, kind, 2, admission.free_dimensions)
        assert all(x.device == OTHER for x in draw.inputs if isinstance(x, Tensor))
        trial = Trial.of(reference, model, draw, admission.indices)
        assert all(output.device == OTHER for output in trial.eager)
        assert trial.judge([output.clone() for output in trial.eager]).passed
        if kind in (DrawKind.ORDINARY, DrawKind.SMALLER_SHAPE):
            check_wrong_outputs(trial)
    check_timed_outputs(reference, model, trial)
    assert work_of(model, draw.inputs).read_bytes > 0


def check_wrong_outputs(trial: Trial) -> None:
    for number, right in enumerate(trial.eager):
        found = []
        for wrong in wrong_outputs(right):
            findings = trial.judge([*trial.eager[:number], wrong, *trial.eager[number + 1 :]])
            assert findings.passed == trial.accepts(
                [*trial.eager[:number], wrong, *trial.eager[number + 1 :]]
            )
            found.append(findings.pattern)
        assert any(found)


def check_timed_outputs(reference: ReferenceModule, model: Any, trial: Trial) -> None:
    inputs = reference.make_inputs(9)
    outputs = reference.run(model, inputs)
    copies = [output.clone() for output in outputs]
    assert timed_error_ratio(copies, outputs, trial.expected, inputs) == 0.0
    other = [output.roll(1, 0) for output in outputs]
    assert timed_error_ratio(other, outputs, trial.expected, inputs) > 1.0


def test_what_needs_the_host_is_made_there_and_moved(other: OtherDevice) -> None:
    source = """
import numpy as np
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)
    def forward(self, x, y):
        return (x + y) * self.table

def get_inputs():
    return [torch.from_numpy(np.random.rand(4, 64)).float() + torch.rand(4, 64), torch.rand(64)]

def get_init_inputs():
    return [torch.from_numpy(np.arange(64.0)) * torch.ones(64)]
"""
    there, here = ReferenceModule(source, name="t", device=OTHER), ReferenceModule(source, name="t")
    inputs = there.make_inputs(3)
    assert [x.device for x in inputs] == [OTHER, OTHER]
    assert all(torch.equal(x.cpu(), y) for x, y in zip(inputs, here.make_inputs(3), strict=True))
    assert there.run(there.make_model(0), inputs)[0].device == OTHER


def test_gold_is_made_on_the_cpu_where_the_device_lacks_an_operator(other: OtherDevice) -> None:
    class Lacking(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if x.dtype == torch.float64 and x.device == OTHER:
                raise NotImplementedError("not implemented for 'Double'")
            return x.softmax(-1)

    source = "import torch\nfrom torch import nn\nclass Model(nn.Module): ...\n"
    source += "def get_inputs(): return [torch.rand(4, 64)]\ndef get_init_inputs(): return []\n"
    reference = ReferenceModule(source, name="t", device=OTHER)
    trial = Trial.of(reference, Lacking(), draw_inputs(reference, DrawKind.ORDINARY, 1))
    assert trial.gold is GoldKind.FLOAT64_ON_CPU
    assert trial.is_sound
    assert trial.expected[0].value.device == OTHER
