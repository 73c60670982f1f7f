"""What compares on a GPU decides as torch does: on the GPU where there is one, and everywhere its source on the host."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.judge.sandbox.test_timed_outputs import COUNT, Block, made
from torch import Tensor

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission
from cuda_gym.judge.sandbox import cuda_comparing
from cuda_gym.judge.sandbox.cuda_comparing import CudaComparing
from cuda_gym.judge.sandbox.timed_outputs import Worst, worst_output
from cuda_gym.judge.toolchains import own_kernels
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda import CudaToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.verification.local_scale import group_width

SOURCE = Path(own_kernels.__file__).with_name("comparing.cu").read_text("utf-8")
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
SHAPES = [(1,), (3, 5), (70, 33), (2, 3, 4096), (3, 4097), (1, 20_000), (5, 7, 40)]
LEAST = 1e-30
SHAPES_OF_ANY_KIND = st.one_of(
    st.just(()),
    st.tuples(st.integers(1, 200), st.just(1)),
    st.tuples(st.integers(1, 3), st.sampled_from([4095, 4096, 4097, 8191, 8192, 8193])),
    st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple),
)


class _OnTheHost:
    """As `CudaKernels`: the same source, by our own toolchain."""

    most_blocks = 3

    def __init__(self, _cubin: Path, _device: torch.device, arguments: dict[str, Any]) -> None:
        launchers = []
        for name, types in arguments.items():
            declared = _declared(name)
            assert len(declared) == len(types)
            names = ", ".join(one.split()[-1].lstrip("*") for one in declared)
            launchers.append(
                f'extern "C" void run_{name}(int blocks, int threads, {", ".join(declared)}) '
                f"{{ {name}<<<blocks, threads>>>({names}); }}\n"
            )
        files = {"kernels/comparing.cu": SOURCE + "".join(launchers), "model_new.py": ""}
        self._runtime = Runtime(CpuToolchain().build(Submission.of(files)).library)
        self._arguments = arguments

    def launch(self, name: str, blocks: int, threads: int, *arguments: int) -> None:
        given = (t(a) for t, a in zip(self._arguments[name], arguments, strict=True))
        self._runtime.library[f"run_{name}"](ctypes.c_int(blocks), ctypes.c_int(threads), *given)


def _declared(name: str) -> list[str]:
    rows = "const Compared* outputs, Word num_parts, Word parts_of_output, Word parts_of_row, Word width"
    if name == "differ":
        text = "const Twins* twins, Word num_twins, Word num_shares, unsigned* found"
    elif name.startswith("size_up"):
        text = f"{rows}, float* sizes"
    else:
        text = f"{rows}, const float* sizes, float* worst"
    return text.split(", ")


@pytest.fixture(
    scope="module",
    params=[
        "host",
        pytest.param(
            "gpu",
            marks=[
                pytest.mark.gpu,
                pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
            ],
        ),
    ],
)
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device("cpu" if request.param == "host" else "cuda:0")


@pytest.fixture(scope="module")
def comparing(device: torch.device) -> Iterator[CudaComparing]:
    with pytest.MonkeyPatch.context() as patch:
        if device.type == "cpu":
            patch.setattr(cuda_comparing, "CudaKernels", _OnTheHost)
            yield CudaComparing(Path(), device)
        else:
            torch.zeros(1, device=device)
            cubin = CudaToolchain(Device.parse("cuda:0")).own_kernels()
            yield CudaComparing(Path(cubin), device)


def errors(comparing: CudaComparing, got: list[Tensor], want: list[Tensor]) -> list[float]:
    found = comparing.relative_errors(got, want, width=group_width(want[0]), least_size=LEAST)
    return [float(one) for one in found]


def by_torch(got: Tensor, want: Tensor) -> float:
    ours, theirs = (x.float().reshape(-1, group_width(want)) for x in (got, want))
    sizes = theirs.abs().mean(dim=1, keepdim=True).clamp(min=LEAST)
    return float(((ours - theirs).abs() / torch.maximum(theirs.abs(), sizes)).max())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_largest_error_of_each_output_is_that_of_torch(
    comparing: CudaComparing, device: torch.device, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    torch.manual_seed(5)
    want = [torch.randn(shape, device=device).to(dtype) for _ in range(4)]
    got = [w.clone() for w in want]
    for number in (1, 3):
        got[number].view(-1)[got[number].numel() // number // 2] += 0.5 * number
    expected = [by_torch(g, w) for g, w in zip(got, want, strict=True)]
    assert errors(comparing, got, want) == pytest.approx(expected, rel=1e-5)
    assert [error > 0.0 for error in expected] == [False, True, False, True]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("place", [0, 31, 4096, -1])
def test_one_element_that_is_no_number_is_found_wherever_it_is(
    comparing: CudaComparing, device: torch.device, dtype: torch.dtype, place: int
) -> None:
    want = torch.rand(3, 5000, device=device).add_(0.5).to(dtype)
    for value in (math.nan, math.inf, -math.inf):
        got = want.clone()
        got.view(-1)[place] = value
        one, other, both, none = errors(comparing, [got, want, got, want], [want, got, got, want])
        assert not one <= 1.0
        assert math.isnan(other)
        assert math.isnan(both)
        assert none == 0.0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_every_half_is_read_as_torch_reads_it(
    comparing: CudaComparing, device: torch.device, dtype: torch.dtype
) -> None:
    halves = torch.arange(1 << 16).to(torch.int16).view(dtype)[::3]
    halves = halves[halves.isfinite()].to(device)
    one = torch.ones(1, dtype=dtype, device=device)
    found = comparing.relative_errors(
        list(halves.view(-1, 1)), [one] * len(halves), width=1, least_size=LEAST
    )
    assert torch.equal(found, (halves.float() - 1.0).abs())


def test_sizes_that_no_sum_could_hold_are_told_all_the_same(
    comparing: CudaComparing, device: torch.device
) -> None:
    want = torch.full((2, 4096), 3e38, device=device)
    got = want.clone()
    got[1, 7] = 0.0
    assert errors(comparing, [got], [want]) == pytest.approx([1.0], rel=1e-3)


@pytest.mark.parametrize("width", [23, 33, 64, 8193])
def test_nothing_is_small_beside_a_row_whose_size_is_rounded_up_to_infinity(
    comparing: CudaComparing, device: torch.device, width: int
) -> None:
    want = torch.full((2, width), torch.finfo(torch.float32).min, device=device)
    got = want.clone()
    got[1, 7] = 0.0
    wrong, right = errors(comparing, [got, want], [want, want])
    assert not wrong <= 0.5
    assert right == 0.0


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 1 << 30),
    shape=SHAPES_OF_ANY_KIND,
    dtype=st.sampled_from(FLOATS),
    start=st.integers(0, 9),
    sizes=st.lists(
        st.sampled_from([0.0, 1e-42, 1e-30, 1e-6, 1.0, 3e4, 1e38]), min_size=1, max_size=4
    ),
    off_by=st.sampled_from([0.0, 1e-40, 1e-3, 1.0, 1e30, math.inf, math.nan]),
)
def test_no_error_is_told_to_be_smaller_than_it_is(
    comparing: CudaComparing,
    device: torch.device,
    seed: int,
    shape: tuple[int, ...],
    dtype: torch.dtype,
    start: int,
    sizes: list[float],
    off_by: float,
) -> None:
    torch.manual_seed(seed)
    want = [(torch.randn(shape, device=device) * size).to(dtype) for size in sizes]
    got = [_elsewhere(w, start + number) for number, w in enumerate(want)]
    victim = got[seed % len(got)].view(-1)
    victim[seed // 7 % len(victim)] += off_by
    for found, ours, theirs in zip(errors(comparing, got, want), got, want, strict=True):
        actual = _exact_error(ours, theirs)
        assert math.isnan(found) or found >= actual * (1.0 - 1e-3)
        assert found > 0.0 or torch.equal(ours, theirs) or math.isnan(found)


def _elsewhere(tensor: Tensor, start: int) -> Tensor:
    """A copy that begins so many elements behind what an allocator gives."""
    room = torch.empty(tensor.numel() + start, dtype=tensor.dtype, device=tensor.device)
    return room[start:].view(tensor.shape).copy_(tensor)


def _exact_error(got: Tensor, want: Tensor) -> float:
    """In float64; NaN is infinitely wrong."""
    ours, theirs = (x.double().reshape(-1, group_width(want)) for x in (got, want))
    sizes = theirs.abs().mean(dim=1, keepdim=True).clamp(min=LEAST)
    errors = (ours - theirs).abs() / torch.maximum(theirs.abs(), sizes)
    return float(errors.nan_to_num(math.inf, math.inf).max())


def test_a_row_of_zeros_forgives_what_a_kernel_may_flush(
    comparing: CudaComparing, device: torch.device
) -> None:
    want = torch.zeros(2, 64, device=device)
    got = want.clone()
    got[1, 5] = 0.25 * LEAST
    assert errors(comparing, [got], [want]) == pytest.approx([0.25])


def test_what_lies_in_another_order_is_compared_in_its_own(
    comparing: CudaComparing, device: torch.device
) -> None:
    want = torch.randn(40, 70, device=device).t()
    assert errors(comparing, [want.contiguous()], [want]) == [0.0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.complex64], ids=str)
def test_other_dtypes_are_left_to_torch(comparing: CudaComparing, dtype: torch.dtype) -> None:
    assert not comparing.takes(dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.float64, torch.int64], ids=str)
def test_outputs_of_a_block_that_had_to_be_copied_are_judged_as_torch_judges_them(
    comparing: CudaComparing, device: torch.device, dtype: torch.dtype
) -> None:
    if device.type != "cpu":
        pytest.skip("the block lies on the host")
    block = Block([[made(dtype, 40, 33).t(), made(dtype, 5)] for _ in range(COUNT)])

    def worst() -> list[Worst]:
        return [
            worst_output(
                block.handout, block.compiled, block.expected,
                count=COUNT, hidden=None, comparing=one,
            )
            for one in (comparing, None)
        ]  # fmt: skip

    assert [one.error_ratio for one in worst()] == [0.0, 0.0]
    block.written(3, 0)[7, 7] += 100
    assert all(one.error_ratio > 1.0 for one in worst())


@pytest.mark.parametrize("num_bytes", [1, 7, 8, 9, 16_383, 16_384, 16_385, 100_003])
def test_any_byte_that_differs_is_found(
    comparing: CudaComparing, device: torch.device, num_bytes: int
) -> None:
    memory = torch.randint(0, 256, (3 * num_bytes + 1,), dtype=torch.uint8, device=device)
    for start in (0, 1):
        one = memory[start : start + num_bytes]
        other = one.clone()
        same = memory[num_bytes : 2 * num_bytes]
        empty = memory[:0]
        twins = [(same, same.clone()), (empty, empty), (one, other)]
        assert not comparing.differ(twins)
        for place in {0, num_bytes // 2, num_bytes - 1}:
            other[place] ^= 64
            assert comparing.differ(twins)
            assert comparing.differ(twins[::-1])
            other[place] ^= 64
    assert not comparing.differ([])
    assert not comparing.differ([(empty, empty)])
