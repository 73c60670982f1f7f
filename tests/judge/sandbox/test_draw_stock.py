"""A draw that was made ahead is the one that was asked for, under the weights of now."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.judge.sandbox.reference_parts import put_together

from cuda_gym.core.task import Task
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.draw_stock import DrawStock, MovingWeights
from cuda_gym.judge.sandbox.task_memory import TaskMemory
from cuda_gym.judge.verification.admission import Admission, OutputSpec
from cuda_gym.judge.verification.gold import GoldKind
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial


def test_a_draw_is_given_once_and_only_under_the_weights_that_it_was_made_under(
    tmp_path: Path,
) -> None:
    parts = put_together(tmp_path)
    assert parts.stock.prepare([{"weights": 3, "kind": "signed", "seed": 5}]) == 1
    parts.weights.move(4)
    assert parts.stock.take("signed", 5) is None
    parts.weights.move(3)
    assert parts.stock.take("ordinary", 5) is None
    assert parts.stock.take("signed", 5) is not None
    assert parts.stock.take("signed", 5) is None


def test_what_is_made_ahead_is_what_would_be_made_when_it_is_needed(tmp_path: Path) -> None:
    parts = put_together(tmp_path)
    parts.stock.prepare([{"weights": 3, "kind": "signed", "seed": 5}])
    ahead, needed = parts.stock.take("signed", 5), parts.stock.make("signed", 5)
    assert ahead is not None
    assert torch.equal(ahead.draw.inputs[0], needed.draw.inputs[0])
    assert torch.equal(ahead.expected[0].value, needed.expected[0].value)


def test_each_move_of_the_weights_begins_where_they_were_at_first(tmp_path: Path) -> None:
    weights = put_together(tmp_path).weights
    first = {name: tensor.clone() for name, tensor in weights.move(3).items()}
    second = weights.move(4)
    assert not torch.equal(second["layer.weight"], first["layer.weight"])
    again = weights.move(3)
    assert all(torch.equal(again[name], tensor) for name, tensor in first.items())


STEPS = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.round(x / DIVISOR).to(torch.int32)


def get_inputs() -> list[torch.Tensor]:
    return [INPUTS]


def get_init_inputs() -> list[int]:
    return []
"""


def stock_of(inputs: str, *, divisor: float) -> tuple[ReferenceModule, DrawStock]:
    device = torch.device("cpu")
    source = STEPS.replace("INPUTS", inputs).replace("DIVISOR", str(divisor))
    reference = ReferenceModule.of(Task(id="test/steps", title="steps", source=source), device)
    admission = Admission(
        draw_kinds=(DrawKind.ORDINARY,),
        outputs=(OutputSpec(dtype="int32", shape=(64, 48)),),
        gold=GoldKind.FLOAT64,
        peak_bytes=1 << 12,
    )
    memory = TaskMemory(CpuWorkerDevice(), admission)
    weights = MovingWeights(reference.make_model(0))
    return reference, DrawStock(reference, weights, admission, memory)


def test_no_draw_depends_on_how_a_fraction_of_whole_numbers_was_rounded() -> None:
    reference, stock = stock_of("torch.randint(0, 1 << 20, (64, 48)) * 1.0", divisor=600.01)
    draws = [draw_inputs(reference, DrawKind.ORDINARY, seed) for seed in range(0, 200, 10)]
    trials = [Trial.of(reference, reference.make_model(0), draw) for draw in draws]
    made = [stock.make("ordinary", seed) for seed in range(0, 200, 10)]
    assert not all(trial.expected[0].is_met_by_eager for trial in trials)
    assert all(trial.expected[0].is_met_by_eager for trial in made)


def test_a_draw_in_which_eager_rounds_otherwise_is_used_where_either_number_passes() -> None:
    reference, stock = stock_of("torch.rand(64, 48)", divisor=3e-4)
    draws = [draw_inputs(reference, DrawKind.ORDINARY, seed) for seed in range(0, 200, 10)]
    trials = [Trial.of(reference, reference.make_model(0), draw) for draw in draws]
    made = [stock.make("ordinary", seed) for seed in range(0, 200, 10)]
    assert not all(torch.equal(trial.eager[0], trial.expected[0].value) for trial in trials)
    assert all(trial.accepts(trial.eager) for trial in trials)
    for ours, theirs in zip(made, trials, strict=True):
        assert torch.equal(ours.draw.inputs[0], theirs.draw.inputs[0])
