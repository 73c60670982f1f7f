from __future__ import annotations

import inspect
import pickle
import random
import traceback
from collections.abc import Callable

import numpy as np
import pytest
import torch

from cuda_gym.core.task import Task
from cuda_gym.errors import BadTask
from cuda_gym.judge.verification.reference_module import ReferenceModule

MakeReference = Callable[..., ReferenceModule]

GOOD = """import torch
from torch import nn

rows = 4
cols = 8
twice = 1
twice = 2
scale = 0.5


class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cols))

    def forward(self, x):
        return x * self.weight


def get_inputs():
    return [torch.rand(rows, cols)]


def get_init_inputs():
    return [cols]
"""


def test_equal_seeds_give_equal_inputs_and_other_seeds_give_others() -> None:
    reference = ReferenceModule(GOOD, name="t")
    first, again, other = (reference.make_inputs(seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_equal_seeds_give_equal_parameters_in_eval_mode_without_gradients() -> None:
    reference = ReferenceModule(GOOD, name="t")
    first, again, other = (reference.make_model(seed) for seed in (1, 1, 2))
    weights = [model.state_dict()["weight"] for model in (first, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert not first.training
    assert not any(parameter.requires_grad for parameter in first.parameters())


def test_making_inputs_leaves_every_global_generator_as_it_was() -> None:
    reference = ReferenceModule(GOOD, name="t")
    states = torch.get_rng_state(), pickle.dumps(np.random.get_state()), random.getstate()
    reference.make_inputs(7)
    reference.make_model(7)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert pickle.dumps(np.random.get_state()) == states[1]
    assert random.getstate() == states[2]


def test_an_override_holds_for_one_call() -> None:
    reference = ReferenceModule(GOOD, name="t")
    assert reference.make_inputs(1, {"rows": 5})[0].shape == (5, 8)
    assert reference.make_inputs(1)[0].shape == (4, 8)


def test_an_override_is_taken_back_when_the_task_raises() -> None:
    reference = ReferenceModule(GOOD, name="t")
    with pytest.raises(BadTask):
        reference.make_inputs(1, {"rows": -5})
    assert reference.make_inputs(1)[0].shape == (4, 8)


def test_only_integers_that_are_assigned_once_are_constants() -> None:
    assert ReferenceModule(GOOD, name="t").integer_constants() == {"rows": 4, "cols": 8}


def test_a_task_can_be_loaded() -> None:
    reference = ReferenceModule.of(Task(id="core/t", source=GOOD, title="t"))
    assert reference.name == "core/t"


def test_the_source_of_the_class_can_be_looked_up() -> None:
    model = ReferenceModule(GOOD, name="t").make_model(0)
    assert "self.weight = nn.Parameter" in inspect.getsource(type(model))


def test_two_tasks_do_not_share_their_globals() -> None:
    first = ReferenceModule(GOOD, name="t")
    second = ReferenceModule(GOOD.replace("rows = 4", "rows = 9"), name="t")
    assert first.make_inputs(1)[0].shape == (4, 8)
    assert second.make_inputs(1)[0].shape == (9, 8)


def test_an_error_of_forward_names_the_task_and_its_line() -> None:
    source = GOOD.replace("return x * self.weight", "raise ValueError('no such thing')")
    reference = ReferenceModule(source, name="suite/bad")
    with pytest.raises(BadTask, match=r"suite/bad, line 17: .*forward.*no such thing") as caught:
        reference.run(reference.make_model(0), reference.make_inputs(0))
    assert "raise ValueError('no such thing')" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows = 4", "rows = (", r"line 4: .*never closed"),
        ("rows = 4", "rows = 1 // 0", r"line 4: .*ZeroDivisionError"),
        ("class Model(nn.Module)", "class Module(nn.Module)", r"has no `Model`"),
        ("class Model(nn.Module)", "class Model", r"raised|no nn.Module"),
        ("def get_inputs", "def inputs", r"no function `get_inputs\(\)`"),
        ("def get_init_inputs", "def init_inputs", r"no function `get_init_inputs\(\)`"),
        ("return [torch.rand(rows, cols)]", "return torch.rand(rows)", r"returned a Tensor"),
        ("return [torch.rand(rows, cols)]", "return [{1: 2}]", r"get_inputs\(\)\[0\] is a dict"),
        ("return [cols]", "return []", r"TypeError"),
        ("return [cols]", "return [[1, [object()]]]", r"get_init_inputs\(\)\[0\]\[1\]\[0\]"),
    ],
)
def test_a_source_that_is_no_task_is_named_with_what_is_wrong(
    old: str, new: str, message: str
) -> None:
    with pytest.raises(BadTask, match=message):
        use(GOOD.replace(old, new))


def use(source: str) -> None:
    reference = ReferenceModule(source, name="t")
    reference.run(reference.make_model(0), reference.make_inputs(0))


def test_nested_arguments_and_numbers_are_fine(make_reference: MakeReference) -> None:
    reference = make_reference(
        "return x[0] + x[1][0] * y", "[torch.rand(3), (torch.rand(3),)]", "2"
    )
    inputs = reference.make_inputs(1)
    outputs = reference.run(reference.make_model(0), inputs)
    assert torch.equal(outputs[0], inputs[0][0] + inputs[0][1][0] * 2)
