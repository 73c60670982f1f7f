from __future__ import annotations

import pytest
import torch

from cuda_gym.core import Task
from cuda_gym.judge.verification.admission import admit
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.tasks.registry import list_tasks, load_task

CORE = list_tasks("core")


def _references(name: str, *inputs: torch.Tensor) -> torch.Tensor:
    """What the reference of a core task makes of inputs of our own."""
    result = ReferenceModule.of(load_task(f"core/{name}")).make_model(seed=0)(*inputs)
    assert isinstance(result, torch.Tensor)
    return result


@pytest.mark.parametrize("task", CORE, ids=lambda task: task.id)
def test_every_core_task_is_admitted_with_a_hidden_batch_size(task: Task) -> None:
    admission = admit(ReferenceModule.of(task), seed=20)
    assert admission.notes == ()
    assert {"batch_size", "num_rows"} & set(admission.free_dimensions)


@pytest.mark.parametrize("task", CORE, ids=lambda task: task.id)
def test_every_core_task_says_what_it_is(task: Task) -> None:
    assert task.title != task.id.removeprefix("core/")
    assert task.family != "other"
    assert task.band is not None
    assert task.library == ()


def test_cross_entropy_of_equal_logits_is_the_logarithm_of_their_number() -> None:
    losses = _references("cross_entropy", torch.zeros(3, 8), torch.tensor([0, 7, 2]))
    assert losses.shape == (3,)
    assert torch.allclose(losses, torch.tensor(8.0).log())


def test_the_border_of_max_pooling_never_wins() -> None:
    pooled = _references("max_pool2d", torch.full((1, 1, 5, 7), -3.0))
    assert torch.equal(pooled, torch.full((1, 1, 3, 4), -3.0))


def test_rmsnorm_makes_the_sum_of_its_inputs_of_unit_mean_square() -> None:
    x = torch.full((2, 1024), 3.0)
    model = ReferenceModule.of(load_task("core/rmsnorm_residual")).make_model(seed=0)
    normalised = model(x, 4 * x) / model.get_parameter("weight")
    assert torch.allclose(normalised, torch.ones(2, 1024), atol=1e-4)


def test_transposed_means_moved_not_viewed() -> None:
    assert _references("transpose", torch.randn(3, 5)).is_contiguous()
