from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.mutation.choice import choose, mutants_of
from benchmarks.mutation.edits import FaultKind, Mutant
from benchmarks.mutation.folding import fold_constants
from benchmarks.mutation.operators import OPERATORS
from benchmarks.mutation.records import Record, append, read_records
from benchmarks.mutation.right_kernels import RightKernel, right_kernels
from benchmarks.mutation.shares import page, wilson

from cuda_gym.core.task import Task
from cuda_gym.judge.toolchains.cuda_source import Source

KERNEL = """\
// for (int i = 0; i < n; ++i) is a comment
__global__ void k(float* out, const float* x, const float* bias, int rows, int n, float eps) {
    __shared__ float shared[128];
    const int row = blockIdx.x;
    if (row >= rows) return;
    shared[threadIdx.x] = x[row * n + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    int i = 0;
    for (; i + 4 <= n; i += 4) sum += x[row * n + i] * shared[i];
    for (; i < n; ++i) sum += x[row * n + i];
    const float centred = sum - eps;
    out[row] = 1.0f / sqrtf(sum + eps) * centred + bias[row];
}
extern "C" void launch(float* out, const float* x, const float* bias, int rows, int n, float eps,
                       cudaStream_t stream) {
    k<<<(rows + 128 - 1) / 128, 128, 0, stream>>>(out, x, bias, rows, n, eps);
}
"""


@pytest.fixture
def kernel() -> RightKernel:
    return RightKernel(
        name="test/k", task=Task(id="test/k", title="k", source=""), files={"kernels/k.cu": KERNEL}
    )


def made(kernel: RightKernel) -> list[Mutant]:
    return list(mutants_of(kernel, {"launch": {"rows": 96, "n": 160}}))


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("bound off by one", "for (; i < n - 1; ++i) sum += x[row * n + i];"),
        ("< for <=", "if (row > rows) return;"),
        ("dropped barrier", ";"),
        ("wrong axis", "const int row = blockIdx.y;"),
        ("wrong axis", "for (; i < n; ++i) sum += x[i * n + row];"),
        ("dropped term", "out[row] = 1.0f / sqrtf(sum) * centred + bias[row];"),
        ("skipped bias", "out[row] = 1.0f / sqrtf(sum + eps) * centred;"),
        ("wrong epsilon", "out[row] = 1.0f / sqrtf(sum + 1e-3f) * centred + bias[row];"),
        ("swapped operands", "const float centred = eps - sum;"),
        ("missing tail", "k<<<rows / 128, 128, 0, stream>>>(out, x, bias, rows, n, eps);"),
        ("missing tail", ";"),
        ("unwritten sum", "float sum;"),
        ("race on shared memory", "shared[threadIdx.x / 2] = x[row * n + threadIdx.x];"),
        ("constant folding", "cudaStream_t stream) { n = 160;"),
        (
            "float16 accumulation",
            "for (; i < n; ++i) sum = __half2float(__float2half(sum + (x[row * n + i])));",
        ),
        ("reduced precision", "const float centred = __half2float(__float2half(sum - eps));"),
    ],
)
def test_each_operator_makes_its_fault(kernel: RightKernel, operator: str, expected: str) -> None:
    assert expected in [mutant.after for mutant in made(kernel) if mutant.operator == operator]


def test_every_mutant_differs_from_the_right_kernel_and_from_every_other(
    kernel: RightKernel,
) -> None:
    texts = [mutant.text for mutant in made(kernel)]
    assert len({KERNEL, *texts}) == len(texts) + 1


def test_comments_are_left_alone(kernel: RightKernel) -> None:
    assert all(mutant.line > 1 for mutant in made(kernel))


def test_what_only_loses_digits_is_a_precision_fault(kernel: RightKernel) -> None:
    operators = {m.operator for m in made(kernel) if m.kind is FaultKind.PRECISION}
    assert operators == {"reduced precision", "float16 accumulation"}


def test_a_constant_is_folded_only_where_the_launcher_is_given_it() -> None:
    assert not list(fold_constants(Source("k.cu", KERNEL), {"other": {"n": 1}}))


def test_the_first_chosen_are_of_different_operators_and_the_same_for_one_seed(
    kernel: RightKernel,
) -> None:
    chosen = choose(made(kernel), seed=3)
    operators = [mutant.operator for mutant in chosen]
    assert len(set(operators[:10])) == 10
    assert chosen == choose(made(kernel), seed=3)


def test_the_right_kernels_cover_every_family_and_every_operator() -> None:
    kernels = right_kernels()
    assert len(kernels) >= 30
    assert {kernel.task.family for kernel in kernels} >= {"matmul", "softmax", "normalisation"}
    texts = [
        Source(path, text)
        for kernel in kernels
        for path, text in kernel.files.items()
        if path.endswith(".cu")
    ]
    assert all(any(list(operator(text)) for text in texts) for operator in OPERATORS)


def record(mutant: Mutant, **found: object) -> Record:
    known: dict[str, object] = {"ours": "wrong", "equivalent": False, **found}
    return Record.of(mutant, **known)


def test_records_outlive_a_torn_line(kernel: RightKernel, tmp_path: Path) -> None:
    first, second, *_ = (record(mutant) for mutant in made(kernel))
    path = tmp_path / "records.jsonl"
    append(path, first)
    path.write_text(path.read_text() + '{"id": "torn')
    append(path, second)
    assert read_records(path) == {first.id: first, second.id: second}


def test_equivalent_mutants_are_left_out_unless_they_are_faults_by_construction(
    kernel: RightKernel,
) -> None:
    mutants = {mutant.operator: mutant for mutant in made(kernel)}
    records = [
        record(mutants["dropped barrier"], ours="correct", equivalent=True),
        record(mutants["wrong axis"], ours="correct", equivalent=True),
        record(mutants["skipped bias"], kernelbench=True),
    ]
    text = page(records, ["# Page"])
    assert "| **all** | 2 | 1 (50.0 %; " in text
    assert "33.3%; at most 15 % may be" in text
    assert "| **shown by outputs** | 1 | 0 (0.0 %; " in text
    assert "Records were made by judge " in text


@pytest.mark.parametrize(("passed", "count"), [(0, 1), (0, 300), (5, 300), (300, 300), (0, 0)])
def test_an_interval_holds_its_share(passed: int, count: int) -> None:
    low, high = wilson(passed, count)
    assert 0.0 <= low <= (passed / count if count else 0.5) <= high <= 1.0
    assert high > low
