from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from cuda_gym.judge.verification.influence import (
    idle_inputs,
    idle_parameters,
    influential_bytes,
)
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.work import work_of

MakeReference = Callable[..., ReferenceModule]
X = "torch.rand(rows, cols)"


def idle(reference: ReferenceModule, *kinds: DrawKind) -> list[int]:
    model = reference.make_model(0)
    draws = [draw_inputs(reference, kind, 1) for kind in (DrawKind.ORDINARY, *kinds)]
    trials = [Trial.of(reference, model, draw) for draw in draws]
    return idle_inputs(reference, model, trials, reference.make_inputs(2))


@pytest.mark.parametrize(
    ("body", "inputs", "places"),
    [
        ("return x + y", [X, X], []),
        ("return x + 0 * y", [X, X], [1]),
        ("return x + 1e-12 * y", [X, X], [1]),
        ("return x[0] + z", ["[" + X + ", " + X + "]", X, X], [1, 2]),
        ("return torch.where(y, x, 0)", [X, "torch.ones(rows, cols).bool()"], []),
        ("return x.gather(1, y)", [X, "torch.arange(256).repeat(64, 1)"], []),
        ("return x * y", [X, "torch.full((rows, 1), 2.0)"], []),
        ("return x * 2, y + 1", [X, "torch.rand(0, cols)"], []),
    ],
)
def test_inputs_that_do_not_matter_are_found(
    make_reference: MakeReference, body: str, inputs: list[str], places: list[int]
) -> None:
    assert idle(make_reference(body, *inputs)) == places


def test_an_input_that_matters_on_a_harder_draw_matters(make_reference: MakeReference) -> None:
    reference = make_reference("return x + F.relu(y - 2)", X, X)
    assert idle(reference) == [1]
    assert idle(reference, DrawKind.SIGNED) == []


def test_parameters_that_do_not_matter_are_found_and_all_are_put_back(
    make_reference: MakeReference,
) -> None:
    reference = make_reference(
        "return self.a(x).softmax(-1)",
        X,
        init="self.a = nn.Linear(256, 16); self.b = nn.Linear(2, 2)",
    )
    model = reference.make_model(0)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    trial = Trial.of(reference, model, draw_inputs(reference, DrawKind.ORDINARY, 1))
    assert idle_parameters(reference, model, [trial], seed=5) == ["b.weight", "b.bias"]
    assert all(before[name].equal(now) for name, now in model.state_dict().items())


@pytest.mark.parametrize(
    ("body", "num_elements"),
    [
        ("return x * 2", 64 * 256),
        ("return x[:, 0]", 64),
        ("return x[: 8] * 2", 8 * 256),
        ("return x.argmax(1)", 0),
    ],
)
def test_only_bytes_that_must_be_read_are_counted(
    make_reference: MakeReference, body: str, num_elements: int
) -> None:
    reference = make_reference(body, X)
    model = reference.make_model(0)
    trial = Trial.of(reference, model, draw_inputs(reference, DrawKind.ORDINARY, 1))
    assert influential_bytes(model, trial.draw.inputs) == 4 * num_elements


def test_whole_numbers_have_no_gradient_and_torch_is_not_asked_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def grad(*_: object, **__: object) -> None:
        raise ValueError("grad requires non-empty inputs.")  # as torch 2.11 says

    monkeypatch.setattr(torch.autograd, "grad", grad)
    inputs = [torch.randint(0, 256, (4, 8), dtype=torch.uint8)]
    assert influential_bytes(nn.Flatten(), inputs) == 0
    assert work_of(nn.Flatten(), inputs).read_bytes == 32
