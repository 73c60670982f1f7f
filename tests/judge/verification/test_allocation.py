from __future__ import annotations

import pytest
import torch

from cuda_gym.errors import MachineError, NotAdmitted
from cuda_gym.judge.verification.allocation import is_out_of_memory, out_of_memory
from cuda_gym.judge.verification.reference_module import ReferenceModule

CPU = torch.device("cpu")
SOURCE = """
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, x):
        return x.expand(2**50).clone()

def get_inputs():
    return [torch.rand(1)]

def get_init_inputs():
    return []
"""


def test_a_task_that_needs_more_than_the_machine_has_is_skipped_with_the_amount() -> None:
    reference = ReferenceModule(SOURCE, name="t/large")
    with pytest.raises(NotAdmitted, match=r"t/large: Model\.forward\(\) needs at least 4,503,599,"):
        reference.run(reference.make_model(0), reference.make_inputs(0))


def test_a_task_that_would_fit_if_it_were_alone_is_the_machines_fault() -> None:
    error = RuntimeError(
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes."
    )
    told = out_of_memory("t", "its gold", error, CPU)
    assert isinstance(told, MachineError)
    assert "it needs 64 bytes" in str(told)
    assert "End what else" in str(out_of_memory("t", "its gold", MemoryError(), CPU))


@pytest.mark.parametrize("text", ["shape mismatch", "memory format is unknown"])
def test_other_errors_are_none_of_memory(text: str) -> None:
    assert not is_out_of_memory(RuntimeError(text))
    assert not is_out_of_memory(ValueError("out of memory"))
