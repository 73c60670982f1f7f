"""What verification does on a real GPU: the same as on the CPU, within bounds of memory and time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from cuda_gym.errors import NotAdmitted
from cuda_gym.judge.profiling.memory_budget import judgement_bytes
from cuda_gym.judge.verification.admission import admit
from cuda_gym.judge.verification.budget import Expected
from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.gold import GoldKind
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs, perturbed_state
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.several_outputs import ratios_of_several
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.work import work_of
from cuda_gym.tasks.registry import list_tasks

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS"),
]
GPU = torch.device("cuda", 0)
MakeReference = Callable[..., ReferenceModule]

RELU = """
import torch
from torch import nn

rows = {rows}
cols = 393216

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(rows, cols)]

def get_init_inputs():
    return []
"""


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    yield
    torch.cuda.empty_cache()


def peak_gb(run: Callable[[], Any]) -> float:
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(GPU)
    run()
    return torch.cuda.max_memory_allocated(GPU) / 1e9


@pytest.mark.parametrize("task", list_tasks("core"), ids=lambda task: task.id)
def test_every_core_task_is_admitted_and_judged_there(task: Any) -> None:
    reference = ReferenceModule.of(task, GPU)
    admission = admit(reference, seed=0)
    on_cpu = admit(ReferenceModule.of(task), seed=0)
    assert admission.gold is on_cpu.gold
    assert admission.draw_kinds == on_cpu.draw_kinds
    assert admission.free_dimensions == on_cpu.free_dimensions
    model = reference.make_model(0)
    model.load_state_dict(perturbed_state(model, 1))
    for kind in dict.fromkeys(admission.draw_kinds):
        draw = draw_inputs(reference, kind, 2, admission.free_dimensions)
        assert all(x.device == GPU for x in draw.inputs if isinstance(x, Tensor))
        trial = Trial.of(reference, model, draw, admission.indices)
        assert trial.judge([output.clone() for output in trial.eager]).passed
        zeros = [torch.zeros_like(output) for output in trial.eager]
        findings = trial.judge(zeros)
        assert not findings.passed or kind is not DrawKind.ORDINARY
    inputs = reference.make_inputs(9)
    outputs = reference.run(model, inputs)
    copies = [output.clone() for output in outputs]
    assert timed_error_ratio(copies, outputs, trial.expected, inputs) == 0.0
    assert work_of(model, inputs).read_bytes > 0


def test_the_seed_decides_and_the_generators_of_the_gpu_are_put_back(
    make_reference: MakeReference,
) -> None:
    source = make_reference("return x", "torch.rand(8)", "torch.rand(8).cuda()").source
    reference = ReferenceModule(source, name="t", device=GPU)
    before = torch.cuda.get_rng_state(GPU)
    first, again, other = (reference.make_inputs(seed) for seed in (1, 1, 2))
    assert torch.equal(torch.cuda.get_rng_state(GPU), before)
    for one, same, another in zip(first, again, other, strict=True):
        assert one.device == GPU
        assert torch.equal(one, same)
        assert not torch.equal(one, another)


@pytest.mark.parametrize(
    "made",
    [
        "torch.rand(4, 64).cuda()",
        "torch.rand(4, 64, device='cuda')",
        "torch.from_numpy(__import__('numpy').random.rand(4, 64)).float()",
        "torch.rand(4, 64, generator=torch.Generator().manual_seed(torch.initial_seed()))",
        "torch.tensor(torch.rand(4, 64).numpy())",
    ],
)
def test_however_a_task_makes_its_inputs_they_lie_on_the_gpu(
    make_reference: MakeReference, made: str
) -> None:
    source = make_reference("return x * 2", made).source
    reference = ReferenceModule(source, name="t", device=GPU)
    x = reference.make_inputs(1)[0]
    assert x.device == GPU
    assert torch.equal(x, reference.make_inputs(1)[0])


def test_a_task_larger_than_the_gpu_is_skipped_with_the_amount() -> None:
    reference = ReferenceModule(RELU.format(rows=10**6), name="t/large", device=GPU)
    with pytest.raises(NotAdmitted, match=r"t/large: get_inputs\(\) needs at least 1,57\d,"):
        reference.make_inputs(0)


def test_a_probability_out_of_range_does_not_stop_the_gpu(make_reference: MakeReference) -> None:
    made = make_reference(
        "return F.binary_cross_entropy(x, y, reduction='none')",
        "torch.rand(rows, cols)",
        "torch.rand(rows, cols)",
    )
    reference = ReferenceModule(made.source, name="t", device=GPU)
    admission = admit(reference, seed=0)
    assert DrawKind.SIGNED not in admission.draw_kinds
    assert float(torch.ones(3, device=GPU).sum()) == 3.0


def test_a_wrong_output_tells_its_pattern(make_reference: MakeReference) -> None:
    source = make_reference("return x.softmax(-1)", "torch.randn(rows, cols)").source
    reference = ReferenceModule(source, name="t", device=GPU)
    draw = draw_inputs(reference, DrawKind.ORDINARY, 1)
    trial = Trial.of(reference, reference.make_model(0), draw)
    right = trial.eager[0]
    half = right.clone()
    half[32:] = 0
    assert re.search("they are 0.*last 32 rows", trial.judge([half]).pattern or "")
    assert "1.5 times" in (trial.judge([right * 1.5]).pattern or "")
    nan = right.clone()
    nan[:, 3] = torch.empty(64, device=GPU).fill_(float("nan"))
    assert "never written" in (trial.judge([nan]).pattern or "")
    nan[:, 3] = torch.zeros(64, device=GPU) / torch.zeros(64, device=GPU)
    assert "computed" in (trial.judge([nan]).pattern or "")


def test_a_task_of_four_gigabytes_stays_far_below_24() -> None:
    rows = 2 * 10**9 // 4 // 393216
    reference = ReferenceModule(RELU.format(rows=rows), name="t", device=GPU)
    size = 4 * rows * 393216
    admitted = []
    assert peak_gb(lambda: admitted.append(admit(reference, seed=0))) < 23.0
    admission = admitted[0]
    assert 2 * size <= admission.peak_bytes < 2.2 * size
    model = reference.make_model(0)

    def judge() -> None:
        draw = draw_inputs(reference, DrawKind.SPIKY, 1)
        trial = Trial.of(reference, model, draw, gold_chunks=admission.gold_chunks)
        assert trial.judge([trial.eager[0]]).passed
        assert not trial.judge([trial.eager[0].mul_(1.5)]).passed

    judged = peak_gb(judge)
    # Beside it: shared inputs and outputs, the candidate's own outputs, and two contexts.
    assert judged + (3 * size + 2e9) / 1e9 < 24.0
    needed = judgement_bytes(input_bytes=size, output_bytes=size, contents=1)
    assert needed < 24e9


def test_gold_in_pieces_is_the_gold_of_the_whole_there(make_reference: MakeReference) -> None:
    source = make_reference("return x.softmax(-1)", "torch.randn(rows, cols)").source
    reference = ReferenceModule(source, name="t", device=GPU)
    draw, model = draw_inputs(reference, DrawKind.ORDINARY, 1), reference.make_model(0)
    whole, pieces = (Trial.of(reference, model, draw, gold_chunks=n) for n in (1, 7))
    assert whole.gold is pieces.gold is GoldKind.FLOAT64
    assert torch.allclose(whole.expected[0].value, pieces.expected[0].value)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(70, 1), (3, 33), (2, 5000), (1, 1 << 25)])
def test_one_element_that_is_no_number_is_found_among_all_others(
    shape: tuple[int, int], dtype: torch.dtype
) -> None:
    want = torch.rand(shape, device=GPU).add_(0.5).to(dtype)
    rule = Expected(value=want, dtype=dtype, least_allowed=want[:, 0], allowance=4.0)
    assert ratios_of_several(want.unsqueeze(0), [want], rule).tolist() == [0.0]
    for place in (0, want.numel() // 2, want.numel() - 1):
        for value in (float("nan"), float("inf"), -float("inf"), 3.0):
            got = want.clone()
            got.view(-1)[place] = value
            [ratio] = ratios_of_several(got.unsqueeze(0), [want], rule).tolist()
            assert not ratio <= 1.0, (place, value)
            assert not timed_error_ratio([got], [want], [rule], []) <= 1.0, (place, value)


@pytest.mark.parametrize("kind", DrawKind)
def test_a_draw_of_a_hundred_million_elements_is_made_and_tried(kind: DrawKind) -> None:
    reference = ReferenceModule(RELU.format(rows=256), name="t", device=GPU)
    trial = Trial.of(reference, reference.make_model(0), draw_inputs(reference, kind, 1))
    assert trial.judge(trial.eager).passed
