"""What g++ really says of typical first mistakes, as an agent reads it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cuda_gym.core.findings import Build, Diagnostic, Findings, KernelResources, Outcome, Severity
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.compile_page import describe_build, describe_diagnostics
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.verification.conclusions import conclude_error

HEAD = """\
#include <cuda_runtime.h>
__device__ float twice(float x, float y) { return x * y; }
__global__ void rows(float* out, const float* x, int n) { out[0] = x[0] * n; }
template <int WIDTH> __device__ float sum_of(const float* x) { return x[WIDTH]; }
"""

# One line each, all that can stand in one file: the mistake, words of its message, words of its hint.
MISTAKES = [
    ("k0(float* a) { a[0] = missing; }", "'missing' was not declared", None),
    ("k1(float* a) { int idx = 0; a[0] = index_[0] + idx; }", "'index_' was not declared", None),
    ("k2(float* a) { __syncthread(); }", "did you mean '__syncthreads'", None),
    ("k3(float* a) { a[threadId.x] = 1; }", "did you mean 'threadIdx'", None),
    ("k4(float* a) { a[threadIdx.w] = 1; }", "no member named 'w'", "have x, y and z"),
    ("k5(float* a) { a[0] = twice(a[0]); }", "too few arguments to function", None),
    ("k6(float* a) { a[0] = sum_of(a); }", "no matching function", "name WIDTH in the call: sum_of<...>"),
    ("k7(float* a, int n) { a[0] = sum_of<n>(a); }", "constant expression", "has to be known when compiling"),
    ("k8(float4* a) { a[0].r = 1; }", "no member named 'r'", "a float4 has x, y, z and w"),
    ("k9(float4* a) { a[0] = a[1] + a[2]; }", "no match for 'operator+'", "no operators in CUDA"),
    ("k10(float* a, int n) { __shared__ float s[n]; a[0] = s[0]; }", "isn't constant", "extern __shared__ float"),
    ("k11(float* a) { a[0] = __shfl_down_sync(~0u, a[0]); }", "no matching function", "__shfl_down_sync(mask, value, delta)"),
    ("k12(float* a) { atomicAdd(a[0], 1.0f); }", "no matching function", "atomicAdd(&out[i], v)"),
]  # fmt: skip
MORE_MISTAKES = [
    ("k0(float* a) { atomicMax(a, 1.0f); }", "no matching function", "of integers"),
    ("k1(const float* a) { a[0] = 1; }", "read-only location", "a is const"),
    ("k2(float* a) { a[0] = __half2float(a[1]); }", "was not declared", "#include <cuda_fp16.h>"),
    ("k3(float* a) { a[0] = later(a[1]); }", "'later' was not declared", "defined below, at line"),
    ("k4(float* a) { a[0] = std::max(a[0], 2.0); }", "no matching function", "fmaxf(a, b) for float"),
    ("k5(float* a) { for (int j = 0; j < 3; ++j) a[j] = j;  a[0] = twice(a, 2.0f); }", "cannot convert 'float*' to 'float'", None),
    ("k6(float* a) { dim3 d(1, 2, 3, 4); a[0] = d.x; }", "no matching function", "dim3(x, y, z)"),
    ("k7(float* a) { rows(a, a, 3); }", "a __global__ function is launched with <<<", None),
    ("k8(void* a) { *(a + 1) = 0; }", "void*", None),
]  # fmt: skip
LAUNCHES = [
    ("rows<<<1, 32>>>(a, b);", "too few arguments", None),
    ("rows<<<1, 32>>>(a, n, b);", "invalid conversion", "rows takes (float* out, const float* x, int n)"),
    ("rows<<<1>>>(a, b, n);", "a launch takes two to four values", None),
    ("rows<<1, 32>>(a, b, n);", "operator<<", "three angle brackets"),
    ("row_sums<<<1, 32>>>(a, b, n);", "'row_sums' was not declared", None),
]  # fmt: skip
# What breaks the grammar, in a file of its own: where it is told, its message, its hint.
BROKEN = {
    "a missing semicolon": (
        "__global__ void k(float* a) {\n    int i = 3\n\n    a[i] = 1;\n}\n", 4, "expected", "missing at the end of line 2"),
    "a brace that is not closed": (
        "__global__ void k(float* a) {\n    if (a) {\n        a[0] = 1;\n}\nextern \"C\" void run(float* a) {\n    k<<<1, 1>>>(a);\n}\n",
        5, "expected", "the '{' of line 2 is not closed before line 4: if (a) {"),
    "a brace too many": (
        "__global__ void k(float* a) {\n    a[0] = 1;\n    }\n    a[1] = 2;\n}\n", 4, "", "line 3 closes the '{' of line 1: one '}' too many"),
    "an open string": (
        "__global__ void k(float* a) {\n    printf(\"x);\n    int i = 0;\n    a[i] = 1;\n}\n", 2, "missing terminating", None),
    "a Markdown block": ("```cuda\n__global__ void k(float* a) { a[0] = 1; }\n```\n", 1, "stray", "Markdown block"),
    "a comment of Python": ("# the kernel\n__global__ void k(float* a) { a[0] = 1; }\n", 1, "directive", "begins with //"),
    "no return type": ("__device__ f(float x) { return x; }\n", 1, "no type", "write the type in front of f"),
    "a template as launcher": (
        'extern "C" template <int N> void run(float* a) {}\n', 1, "template with C linkage", "let a plain one call the template"),
    "a launcher of tensors": (
        'extern "C" void run(torch::Tensor a, const float* b, int n) {}\n', 1, "'torch' has not been declared", "know no tensors"),
    "two launchers of one name": (
        'extern "C" void run(float* a) {}\nextern "C" void run(float* a, int n) {}\n', 2, "conflicting declaration", None),
    "a header that is not there": ('#include "tools.cuh"\n', 1, "No such file", "beside it in kernels/"),
    "a function without a body": (
        'float f(float x);\nextern "C" void run(float* a) { a[0] = f(a[1]); }\n', None, "undefined reference", "kernels/k.cu:1 names f"),
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _only_gcc() -> None:
    if not find_compiler().is_gcc:
        pytest.skip("these are the words of GCC")


def compile_errors(submission: Submission) -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as raised:
        CpuToolchain().build(submission)
    return raised.value.diagnostics


def at_line(diagnostics: tuple[Diagnostic, ...], line: int) -> tuple[Diagnostic, ...]:
    """The errors of one line, with their notes."""
    kept: list[Diagnostic] = []
    is_kept = False
    for diagnostic in diagnostics:
        if diagnostic.severity is not Severity.NOTE:
            is_kept = diagnostic.line == line
        if is_kept:
            kept.append(diagnostic)
    return tuple(kept)


@pytest.mark.parametrize(
    ("table", "form"),
    [
        (MISTAKES, "__global__ void {}"),
        (MORE_MISTAKES, "__global__ void {}"),
        (LAUNCHES, "void run(float* a, const float* b, int n) {{ {} }}"),
    ],
)
def test_typical_mistakes_are_told_at_their_line_in_the_words_of_cuda(
    table: list[tuple[str, str, str | None]], form: str
) -> None:
    lines = [form.format(code).replace(" run(", f" run{i}(") for i, (code, *_) in enumerate(table)]
    source = HEAD + "\n".join(lines) + "\n__device__ float later(float x) { return x; }\n"
    files = Submission.of({"kernels/k.cu": source})
    diagnostics = compile_errors(files)
    for line, (code, message, hint) in enumerate(table, start=HEAD.count("\n") + 1):
        page = describe_diagnostics(at_line(diagnostics, line), files)
        require_no_internals(page)
        assert re.search(rf"^kernels/k\.cu:{line}:.* error: .*{re.escape(message)}", page, re.M), (
            page
        )
        assert f"{line:>5} | {source.splitlines()[line - 1][:60]}" in page, code
        if hint is not None:
            assert re.search(rf"  hint: .*{re.escape(hint)}", page), page


@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_grammar_is_told_where_it_broke(name: str) -> None:
    source, line, message, hint = BROKEN[name]
    files = Submission.of({"kernels/k.cu": source})
    page = describe_diagnostics(compile_errors(files), files)
    require_no_internals(page)
    said = page.splitlines()[0]
    assert said.startswith("undefined" if line is None else f"kernels/k.cu:{line}:"), page
    assert message in said
    assert page.count(" error: ") <= 1, page  # what follows from it is counted only
    if hint is not None:
        assert re.search(rf"  hint: .*{re.escape(hint)}", page), page


def require_no_internals(page: str) -> None:
    for word in ("cuda_on_cpu", "CUDA_ON_CPU", "__attribute__", "sizetype", "{aka", "lambda", "/"):
        assert word not in re.sub(r"kernels/\w*|//|kernels/\*", "", page), page


def error(message: str, line: int, column: int = 1, *, file: str = "kernels/k.cu") -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, file=file, line=line, column=column)


FILES = Submission.of(
    {"kernels/k.cu": "".join(f"\tline {i};\n" for i in range(1, 200)), "model_new.py": "def f(:\n"}
)


def test_an_error_stands_between_the_lines_around_it_with_a_caret_under_its_column() -> None:
    assert describe_diagnostics((error("no", 7, 7),), FILES).splitlines() == [
        "kernels/k.cu:7:7: error: no",
        "    6 |     line 6;",
        "    7 |     line 7;",
        "      |          ^",
        "    8 |     line 8;",
    ]


def test_equal_messages_are_told_once_with_the_other_lines() -> None:
    page = describe_diagnostics(tuple(error("'x' is no y", n) for n in (9, 40, 12)), FILES)
    assert page.count("'x' is no y") == 1
    assert "  also at lines 12, 40" in page


def test_errors_come_in_the_order_of_the_source_and_before_warnings() -> None:
    warning = replace(error("late", 1), severity=Severity.WARNING)
    page = describe_diagnostics((warning, error("second", 9), error("first", 3)), FILES)
    assert page.index("first") < page.index("second")
    assert "late" not in page


def test_a_note_goes_with_its_error_and_the_one_that_helps_is_told() -> None:
    note = replace(error("candidate: 'f(int)'", 2), severity=Severity.NOTE)
    reason = replace(note, message="no known conversion from 'float*' to 'int'")
    page = describe_diagnostics((error("no match", 5), note, reason), FILES)
    assert "note: kernels/k.cu:2:1: no known conversion" in page
    assert "candidate" not in page


@pytest.mark.parametrize("num_errors", [1, 5, 20, 100])
def test_the_page_is_short_whatever_the_compiler_says(num_errors: int) -> None:
    errors = tuple(error(f"message {i} " + "long " * 300, i + 1) for i in range(num_errors))
    page = describe_diagnostics(errors, FILES)
    assert len(page) < 2200
    shown = page.count("message")
    more = re.search(r"\.\.\. and (\d+) more, at line", page)
    assert shown + (int(more[1]) if more else 0) == num_errors


def test_python_that_does_not_parse_is_told_with_its_line() -> None:
    findings = Findings(
        outcome=Outcome.COMPILE_ERROR,
        summary="model_new.py:1:7: error: invalid syntax: def f(:",
        diagnostics=(error("invalid syntax: def f(:", 1, 7, file="model_new.py"),),
    )
    assert describe_findings(findings, FILES).splitlines() == [
        "It does not compile: 1 error in model_new.py.",
        "model_new.py:1:7: error: invalid syntax",
        "    1 | def f(:",
        "      |       ^",
        "Next: repair the first error, then compile again.",
    ]


def test_a_launcher_that_python_cannot_call_is_told_with_its_line() -> None:
    source = 'extern "C" void run(float** a, int& n) {}\n'
    with pytest.raises(CompileError) as raised:
        parse_launchers({"kernels/k.cu": source})
    page = describe_findings(conclude_error(raised.value), Submission.of({"kernels/k.cu": source}))
    assert "kernels/k.cu:1: error: parameter 1 of launcher 'run'" in page
    assert "    1 | extern" in page


def test_a_stopped_count_is_no_count() -> None:
    errors = tuple(error(str(i), i + 1) for i in range(20))
    findings = Findings(outcome=Outcome.COMPILE_ERROR, summary=str(errors[0]), diagnostics=errors)
    assert "20 errors or more" in describe_findings(findings, FILES).splitlines()[0]


def test_kernels_are_told_with_what_they_take_and_what_limits_them() -> None:
    kernel = KernelResources(
        name="k", registers=128, shared_bytes=2048, spill_bytes=64, stack_bytes=96,
        block_threads=256, occupancy=0.25, limited_by="registers",
    )  # fmt: skip
    build = Build(
        key="k",
        library="l",
        toolchain="nvcc 13.0 (x)",
        build_s=1.0,
        cached=False,
        kernels=(kernel,),
    )
    assert describe_build(build).splitlines() == [
        "Built by nvcc 13.0.",
        "  kernel k: 128 registers, 2,048 bytes of shared memory, 96 bytes of local memory, "
        "occupancy 25% at 256 threads a block, limited by registers",
        "    warning: 64 bytes of registers are spilled to local memory, which is as slow as global memory",
    ]


def test_many_kernels_are_counted() -> None:
    kernels = tuple(KernelResources(name=f"k{i}", mode="loop") for i in range(30))
    build = Build(key="k", library="l", toolchain="g++", build_s=1.0, cached=True, kernels=kernels)
    assert describe_build(build).endswith("... and 22 more kernels.")
