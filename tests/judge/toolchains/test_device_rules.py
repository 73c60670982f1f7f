from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.device_rules import device_rule_warnings

HOST = "float helper(float x) { return x; }\n"
KERNEL = "__global__ void k(float* x) { x[0] = helper(x[1]); }\n"
OWN = Path(__file__).parents[3]


def said(*texts: str) -> list[str]:
    return [
        str(d) for d in device_rule_warnings({f"kernels/f{i}.cu": t for i, t in enumerate(texts)})
    ]


def test_a_kernel_that_calls_a_function_of_the_host_is_told_with_both_lines() -> None:
    (warning,) = said(HOST + KERNEL)
    assert warning.startswith(
        "kernels/f0.cu:2: warning: helper (kernels/f0.cu:1) is a function of the host"
    )
    assert warning.endswith("write __device__ in front of it")


def test_a_kernel_that_returns_a_value_is_told() -> None:
    (warning,) = said("__global__ float k(float* x) { return x[0]; }")
    assert "kernel k returns a value" in warning


def test_a_launch_of_what_is_no_kernel_is_told_with_both_lines() -> None:
    (warning,) = said('void k(float* x) {}\nextern "C" void run(float* x) { k<<<1, 1>>>(x); }')
    assert warning.startswith(
        "kernels/f0.cu:2: warning: k (kernels/f0.cu:1) is launched, but is no"
    )
    assert warning.endswith("write __global__ in front of it")


@pytest.mark.parametrize(
    "text",
    [
        "#define KERNEL __global__ void\nKERNEL k(float* x) {}\nvoid run(float* x) { k<<<1, 1>>>(x); }",
        "void k(int n) {}\n__global__ void k(float* x) {}\nvoid run(float* x) { k<<<1, 1>>>(x); }",
        "void k(int n) {}\nvoid run(void (*k)(float*), float* x) { k<<<1, 1>>>(x); }",
        "__device__ " + HOST + KERNEL,
        "__host__ __device__ " + HOST + KERNEL,
        "constexpr " + HOST + KERNEL,
        "template <typename T> __device__ T helper(T x) { return x; }\n" + KERNEL,
        # an overload or a declaration for the device, a macro, a member, a variable of that name
        HOST + "__device__ int helper(int x) { return x; }\n" + KERNEL,
        "__device__ float helper(float x);\n" + HOST + KERNEL,
        "#define helper(x) (x)\n" + KERNEL,
        HOST + "__global__ void k(Ops ops, float* x) { x[0] = ops.helper(x[1]); }",
        HOST + "template <typename F> __global__ void k(F helper, float* x) { x[0] = helper(x[1]); }",
        HOST + "__global__ void k(float* x) { float helper(3.0f); x[0] = helper; }",
        # the host calls it
        HOST + 'extern "C" void run(float* x) { k<<<1, 1>>>(x, helper(3.0f)); }',
        "struct S { float operator()(float x) { return x; } };\n__global__ void k(float* x) {}",
        "template <int N> __global__ __launch_bounds__(N) void k(float* x) { x[0] = sqrtf(x[1]); }",
        "namespace n { " + HOST + "}\n__global__ void k(float* x) { x[0] = other::helper(x[1]); }",
    ],
)  # fmt: skip
def test_what_a_gpu_allows_is_not_told(text: str) -> None:
    assert said(text) == []


def test_right_programs_have_no_warnings() -> None:
    folders = (OWN / "src/cuda_gym/agents/solutions", OWN / "tests/cuda_programs/right")
    programs = [path for folder in folders for path in folder.rglob("*.cu")]
    assert len(programs) > 20
    assert {path.name: found for path in programs if (found := said(path.read_text()))} == {}
