"""A state_dict that is not Model's is told with what differs and how to repair it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)
from cuda_gym.judge.sandbox.model_state import check_state, own_state
from cuda_gym.judge.sandbox.telling import Told

SPECS = {"weight": TensorSpec(dtype="float32", shape=(3,), offset=0)}


@pytest.mark.parametrize(
    ("own", "facts"),
    [
        ({"w": torch.zeros(3)}, ["Missing: weight.", "Not in Model: w.", "Rename w to weight."]),
        ({"w": torch.zeros(4)}, ["Missing: weight.", "register_buffer(..., persistent=False)"]),
        ({}, ["Missing: weight.", "self.name = nn.Parameter(...)"]),
        (
            {"weight": torch.zeros(3), "more": torch.zeros(1)},
            ["Not in Model: more.", "persistent=False"],
        ),
        ({"weight": torch.zeros(3, 1)}, ["weight is float32 (3, 1); Model's is float32 (3,)"]),
        ({"weight": torch.zeros(3).half()}, ["weight is float16 (3,); Model's is float32 (3,)"]),
    ],
)
def test_a_difference_is_told_with_the_way_out(
    own: dict[str, torch.Tensor], facts: list[str]
) -> None:
    with pytest.raises(Told) as caught:
        check_state(own, SPECS)
    for fact in facts:
        assert fact in str(caught.value)


def test_the_same_state_passes() -> None:
    check_state({"weight": torch.zeros(3)}, SPECS)


class _Noting(torch.nn.Linear):
    def get_extra_state(self) -> dict[str, int]:
        return {"version": 2}

    def set_extra_state(self, state: object) -> None:
        pass


def test_what_a_module_notes_beside_its_tensors_is_its_own_affair() -> None:
    assert set(own_state(_Noting(2, 2))) == {"weight", "bias"}


class _Broken(torch.nn.Linear):
    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError("no state")


def test_a_state_dict_that_fails_is_told_as_that() -> None:
    with pytest.raises(Told, match=r"ModelNew\.state_dict\(\) raised ValueError: no state"):
        own_state(_Broken(2, 2))
