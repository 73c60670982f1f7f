from __future__ import annotations

import pytest
import torch

from cuda_gym.errors import BadTask
from cuda_gym.judge.verification.nests import flatten_outputs, map_tensors, tensors_in


def test_the_nest_stays_and_only_tensors_are_mapped() -> None:
    nest = [torch.ones(2), (3, [torch.zeros(1)]), "text", None]
    mapped = map_tensors(nest, lambda x: x + 1)
    assert torch.equal(mapped[0], torch.full((2,), 2.0))
    assert torch.equal(mapped[1][1][0], torch.ones(1))
    assert (mapped[1][0], mapped[2], mapped[3]) == (3, "text", None)
    assert isinstance(mapped[1], tuple)


def test_tensors_come_in_order() -> None:
    nest = [torch.zeros(1), [torch.zeros(2), (torch.zeros(3),)], 5]
    assert [len(tensor) for tensor in tensors_in(nest)] == [1, 2, 3]


def test_named_tuples_dicts_and_numbers_are_outputs() -> None:
    tensors, form = flatten_outputs([torch.zeros(3).max(0), {"a": 1.5, "b": None}, True])
    assert [tensor.dtype for tensor in tensors] == [
        torch.float32,
        torch.int64,
        torch.float64,
        torch.bool,
    ]
    assert form == "[(tensor, tensor), {a: number, b: None}, number]"


def test_a_complex_output_becomes_its_real_and_imaginary_parts() -> None:
    tensors, _ = flatten_outputs(torch.tensor([1 + 2j]))
    assert torch.equal(tensors[0], torch.tensor([[1.0, 2.0]]))


def test_an_output_of_another_type_is_the_tasks_fault() -> None:
    with pytest.raises(BadTask, match="returned a set"):
        flatten_outputs({1, 2})
