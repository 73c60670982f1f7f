"""Calls that do not fit the kernels are told while compiling, and only those."""

from __future__ import annotations

import pytest

from cuda_gym.core.findings import Severity
from cuda_gym.judge.verification.extension_calls import Signature, call_warnings

LAUNCHERS = {
    "scale": Signature(num_arguments=3, signature="scale(float* out, const float* x, int n)")
}
KERNELS = {
    "scale_kernel": Signature(
        num_arguments=2, signature='kernel("scale_kernel")[grid, block](float* out, int n)'
    ),
    "generic": Signature(num_arguments=0, signature="", problem="it is a template"),
}


def told(*lines: str) -> list[str]:
    source = "\n".join(["import cuda_extension as ce", *lines])
    warnings = call_warnings(source, LAUNCHERS, KERNELS)
    assert all(warning.severity is Severity.WARNING for warning in warnings)
    return [str(warning) for warning in warnings]


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("ce.scale(out, x)", ["takes 3 arguments, got 2: scale(float* out, const float* x, int n)"]),
        ("ce.scale(out, x, n, stream)", ["takes 3 arguments, got 4", "the stream is filled in"]),
        ("ce.scale(out, x, n=3)", ["by position: scale(float* out"]),
        ("ce.scal(out)", ["cuda_extension has no 'scal'. Did you mean 'scale'?", "It has: scale, kernel, library"]),
        ("ce.scale_kernel(out, 1)", ["it is a kernel; call cuda_extension.kernel(", "or write a launcher"]),
        ("ce.kernel('scale_kernal')", ["no __global__ function 'scale_kernal'. Did you mean 'scale_kernel'?"]),
        ("ce.kernel('generic')[1, 1]()", ["kernel 'generic' cannot be launched from Python: it is a template"]),
        ("ce.kernel('scale_kernel')[1, 1](out)", ["takes 2 arguments, got 1", "[grid, block](float* out, int n)"]),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_is_told_with_what_fits(line: str, facts: list[str]) -> None:
    (warning,) = told(line)
    assert warning.startswith("model_new.py:2: warning: ")
    for fact in facts:
        assert fact in warning


@pytest.mark.parametrize(
    "line",
    [
        "ce.scale(out, x, n)",
        "ce.scale(*everything)",
        "launch = ce.scale",
        "fast = getattr(ce, 'scale_half', None) or ce.scale",
        "ce.library.gemm(a, b)",
        "ce.kernel(name)[1, 1](out)",
        "ce.kernel('scale_kernel')[(1, 2), 3, 4](out, n)",
        "def f(ce): return ce.unknown()",
        "pattern = '\\d'; getattr(ce, 'x' + name)()",
    ],
)
def test_a_call_that_may_fit_is_left_alone(line: str) -> None:
    assert told(line) == []


def test_a_model_that_calls_nothing_is_told_what_to_call() -> None:
    (warning,) = call_warnings("import torch", LAUNCHERS, KERNELS)
    assert "nothing of kernels/ is called; import cuda_extension" in warning.message
    assert "cuda_extension.scale(float* out" in warning.message
