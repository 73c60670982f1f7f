"""Small reference modules, written as tasks are: as source."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from cuda_gym.judge.verification.inputs import Draw, DrawKind, draw_inputs
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

MakeReference = Callable[..., ReferenceModule]
MakeTrial = Callable[..., Trial]


@pytest.fixture
def make_reference() -> MakeReference:
    """A task from the body of its forward(), whose arguments are x, y, z."""

    def make(
        body: str,
        *inputs: str,
        constants: str = "rows = 64\ncols = 256",
        init: str = "pass",
        arguments: str = "",
    ) -> ReferenceModule:
        names = ", ".join("xyz"[: len(inputs)])
        source = f"""
import torch
import torch.nn.functional as F
from torch import nn
{constants}

class Model(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {init}

    def forward(self, {names}):
        {body}

def get_inputs():
    return [{", ".join(inputs)}]

def get_init_inputs():
    return [{arguments}]
"""
        return ReferenceModule(source, name="test/task")

    return make


@pytest.fixture
def make_trial(make_reference: MakeReference) -> MakeTrial:
    """A trial of `body` on given tensors, or on inputs that are drawn."""

    def make(
        body: str, *inputs: torch.Tensor | str, kind: DrawKind = DrawKind.ORDINARY, seed: int = 1
    ) -> Trial:
        written = [x if isinstance(x, str) else "torch.zeros(1)" for x in inputs]
        reference = make_reference(body, *written)
        if any(isinstance(x, str) for x in inputs):
            draw = draw_inputs(reference, kind, seed)
        else:
            draw = Draw(kind=kind, inputs=list(inputs), description="given")
        return Trial.of(reference, reference.make_model(0), draw)

    return make
