"""Outputs of a timed block: those that are right pass together, and one that is wrong is found among many."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.timed_outputs import HiddenContent, Worst, worst_output
from cuda_gym.judge.verification.budget import Expected
from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.gold import IndexOutput
from cuda_gym.judge.verification.inputs import Draw, DrawKind
from cuda_gym.judge.verification.several_outputs import ratios_of_several
from cuda_gym.judge.verification.trial import Trial

COUNT = 5
ALLOWANCE = 600.0
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
EXACT = [torch.int64, torch.int32, torch.uint8, torch.bool]
INDEX = IndexOutput(output=0, tensor=0, dim=1, keepdim=False)


class Block:
    """Some calls, and what came back for each; all of it right at first."""

    def __init__(self, compiled: Sequence[Sequence[Tensor]], **rule: Any) -> None:
        self.compiled = compiled
        self.inputs = [[torch.arange(12.0).view(3, 4) % 3 + number] for number in range(COUNT)]
        self.handout = Handout.of(CpuWorkerDevice(), self.inputs, compiled[0])
        self.expected = [_rule(output, **rule) for output in compiled[0]]
        for number, outputs in enumerate(compiled):
            for place, output in enumerate(outputs):
                self.written(number, place).copy_(output)

    def written(self, number: int, place: int = 0) -> Tensor:
        """What the candidate wrote, in the region itself."""
        return self.handout.outputs.tensor(self.handout.specs[number][place])

    def worst(self, *, count: int = COUNT, hidden: HiddenContent | None = None) -> Worst:
        return worst_output(self.handout, self.compiled, self.expected, count=count, hidden=hidden)

    def one_by_one(self) -> float:
        ratios = (
            timed_error_ratio(outputs, ours, self.expected, inputs)
            for outputs, ours, inputs in zip(
                self.handout.delivered(), self.compiled, self.inputs, strict=True
            )
        )
        return max(math.inf if math.isnan(ratio) else ratio for ratio in ratios)


def _rule(output: Tensor, index: IndexOutput | None = None) -> Expected:
    return Expected(
        value=output.to("meta"),
        dtype=output.dtype,
        least_allowed=torch.empty(1, device="meta") if output.is_floating_point() else None,
        allowance=20.0 if output.dtype.itemsize == 2 else ALLOWANCE,
        index=index,
    )


def made(dtype: torch.dtype, *shape: int) -> Tensor:
    if dtype.is_floating_point:
        return torch.randn(shape, dtype=torch.float64).to(dtype)
    return torch.randint(0, 2 if dtype is torch.bool else 100, shape).to(dtype)


def block(dtype: torch.dtype, *shape: int) -> Block:
    torch.manual_seed(3)
    return Block([[made(dtype, *shape)] for _ in range(COUNT)])


@pytest.mark.parametrize("shape", [(), (3,), (40,), (7, 5), (3, 5, 33), (300, 1000)], ids=str)
@pytest.mark.parametrize("dtype", [*FLOATS, *EXACT], ids=str)
def test_right_outputs_pass_and_one_wrong_element_is_found(
    dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    some = block(dtype, *shape)
    assert some.worst() == Worst(error_ratio=0.0, kind="ordinary")
    wrong = some.written(COUNT - 1).view(-1)[-1:]
    wrong.copy_(wrong.logical_not() if dtype is torch.bool else wrong + 1)
    assert some.worst().error_ratio == some.one_by_one() > 1.0
    assert some.worst(count=COUNT - 1).error_ratio == 0.0


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_small_errors_are_told_as_they_are_when_each_output_is_looked_at(
    dtype: torch.dtype,
) -> None:
    some = block(dtype, 6, 64)
    for number in range(COUNT):
        written = some.written(number)
        written.mul_(1 + (2 + number) * torch.finfo(dtype).eps)
    assert 0.0 < some.worst().error_ratio == some.one_by_one() <= 1.0


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_nan_and_no_infinity_passes_where_a_number_is_expected(
    dtype: torch.dtype, value: float
) -> None:
    some = block(dtype, 6, 64)
    some.written(2)[3, 7] = value
    assert some.worst() == Worst(error_ratio=math.inf, kind="ordinary")


def test_nan_and_infinities_pass_where_the_compiled_reference_has_them() -> None:
    compiled = [[made(torch.float32, 6, 64)] for _ in range(COUNT)]
    compiled[1][0][2, 5], compiled[1][0][4, 1] = math.nan, -math.inf
    some = Block(compiled)
    assert some.worst().error_ratio <= 1.0
    some.written(1)[4, 1] = math.inf
    assert some.worst().error_ratio == math.inf


def test_an_index_of_an_equal_value_passes_and_of_another_value_or_of_none_does_not() -> None:
    some = Block([[torch.tensor([2, 1, 0])] for _ in range(COUNT)], index=INDEX)
    assert some.worst().error_ratio == 0.0
    some.written(3)[2] = 1
    assert some.worst().error_ratio == math.inf
    some.written(3)[2] = 3
    assert some.inputs[3][0][2].tolist() == [5.0, 3.0, 4.0, 5.0]
    assert some.worst().error_ratio == 0.0
    some.written(3)[2] = 4
    assert some.worst().error_ratio == math.inf


def test_outputs_of_several_forms_are_compared_each_by_its_own_rule() -> None:
    def outputs() -> list[Tensor]:
        return [
            made(torch.float32, 4, 40), made(torch.int64, 9), made(torch.float32, 0, 3),
            made(torch.bfloat16, 2, 2), made(torch.float32, 4, 40).t(),
        ]  # fmt: skip

    some = Block([outputs() for _ in range(COUNT)])
    assert some.worst().error_ratio == 0.0
    for place in (0, 1, 3, 4):
        right = some.written(2, place).clone()
        some.written(2, place).view(-1)[1] += 1
        assert some.worst().error_ratio == some.one_by_one() > 1.0, place
        some.written(2, place).copy_(right)
    assert some.worst().error_ratio == 0.0


def test_outputs_of_no_elements_pass() -> None:
    assert block(torch.float32, 0, 4).worst() == Worst(error_ratio=0.0, kind="ordinary")
    assert block(torch.int64, 0).worst() == Worst(error_ratio=0.0, kind="ordinary")


@pytest.mark.parametrize(
    "change",
    [
        lambda output: output[:3],
        lambda output: output.double(),
        lambda output: torch.cat([output, output]),
    ],
)
def test_another_form_than_the_compiled_reference_has_is_wrong(
    change: Callable[[Tensor], Tensor],
) -> None:
    some = block(torch.float32, 6, 64)
    some.compiled = [*some.compiled[:2], [change(some.compiled[2][0])], *some.compiled[3:]]
    assert some.worst().error_ratio == some.one_by_one()
    some.compiled = [*some.compiled[:2], [], *some.compiled[3:]]
    assert some.worst().error_ratio == math.inf


def test_a_heavy_tail_is_looked_at_closely_and_passes() -> None:
    torch.manual_seed(3)
    compiled = [[torch.ones(1, 4096)] for _ in range(COUNT)]
    compiled[2][0][0, 9] = 1e26
    some = Block(compiled)
    some.written(2).mul_(1 + 1e-5)
    assert 0.0 < some.worst().error_ratio == some.one_by_one() <= 1.0
    some.written(2)[0, 10] *= 1e20
    assert some.worst().error_ratio == some.one_by_one()


def test_a_hidden_content_is_judged_by_its_own_draw_and_by_no_other_rule() -> None:
    some = block(torch.float32, 6, 64)
    right = made(torch.float32, 6, 64)
    rule = Expected(
        value=right, dtype=right.dtype, least_allowed=torch.full((6,), 1e-5), allowance=ALLOWANCE
    )
    draw = Draw(kind=DrawKind.SIGNED, inputs=[], description="")
    trial = Trial(draw=draw, eager=[right], gold=None, expected=[rule])  # type: ignore[arg-type]
    hidden = HiddenContent(number=1, trial=trial)
    wrong = some.worst(hidden=hidden)
    assert wrong.kind == DrawKind.SIGNED.value
    assert wrong.error_ratio > 1.0
    some.written(1).copy_(right)
    assert some.worst(hidden=hidden).error_ratio == 0.0
    some.written(2)[0, 0] += 1
    assert some.worst(hidden=hidden).kind == "ordinary"


def test_small_outputs_of_a_block_are_compared_in_a_few_operators_without_a_wait_each() -> None:
    some = block(torch.float32, 6, 64)
    with _Seen() as seen:
        assert some.worst().error_ratio == 0.0
    assert len(seen.computing) <= 20
    assert not {"equal", "_local_scalar_dense"} & set(seen.computing)


def test_what_is_compared_of_several_calls_is_a_private_copy_of_what_was_written() -> None:
    some, numbers = block(torch.float32, 6, 64), [1, 3]
    copy = some.handout.delivered_together(0, numbers)
    assert all(torch.equal(copy[i], some.written(n)) for i, n in enumerate(numbers))
    kept = copy.clone()
    for number in numbers:
        some.written(number).zero_()
    assert torch.equal(copy, kept)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
def test_what_is_compared_of_one_call_is_read_once_where_it_lies(dtype: torch.dtype) -> None:
    some = block(dtype, 6, 64)
    got = some.handout.delivered_together(0, [2])
    assert got.data_ptr() == some.written(2).data_ptr()
    with _Seen(of=got) as seen:
        ratios = ratios_of_several(got, [some.compiled[2][0]], some.expected[0])
    assert ratios.tolist() == [0.0]
    assert len(seen.computing) == 1


class _Seen(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Which operators are run that are more than another view."""

    _VIEWS = frozenset({"view", "slice", "unsqueeze", "detach", "select", "alias"})

    def __init__(self, of: Tensor | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.computing: list[str] = []
        self._of = of
        """Only those that take a part of it count, where one is named."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        name = func._schema.name.removeprefix("aten::")
        counts = name not in self._VIEWS and (self._of is None or any(map(self._is_part, args)))
        self.computing += [name] if counts else []
        return func(*args, **(kwargs or {}))

    def _is_part(self, given: Any) -> bool:
        return (
            isinstance(given, Tensor)
            and self._of is not None
            and given.untyped_storage().data_ptr() == self._of.untyped_storage().data_ptr()
        )
