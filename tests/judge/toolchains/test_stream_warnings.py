"""Launches on the default stream are told with the launch that was meant."""

from __future__ import annotations

import pytest

from cuda_gym.core.findings import Severity
from cuda_gym.judge.toolchains.stream_warnings import stream_warnings


def told(source: str) -> list[str]:
    return [str(warning) for warning in stream_warnings({"kernels/a.cu": source})]


@pytest.mark.parametrize(
    ("launch", "corrected"),
    [
        ("k<<<blocks, threads>>>(out, n)", "k<<<blocks, threads, 0, stream>>>(...)"),
        ("k<<<dim3(1, 2), 64, bytes(4)>>>(out)", "k<<<dim3(1, 2), 64, bytes(4), stream>>>(...)"),
        ("k<<<(n + 255) / 256,\n 256, 0, 0>>>(out)", "k<<<(n + 255) / 256, 256, 0, stream>>>(...)"),
        ("k<<<1, 2, 0, nullptr>>>()", "k<<<1, 2, 0, stream>>>(...)"),
        ("deep::k<float, 4><<<1, 2>>>(x)", "deep::k<float, 4><<<1, 2, 0, stream>>>(...)"),
    ],
)
def test_a_launch_without_a_stream_is_told_with_the_right_one(launch: str, corrected: str) -> None:
    source = f'extern "C" void f(float* out, int n, cudaStream_t stream) {{\n  {launch};\n}}'
    (warning,) = stream_warnings({"kernels/a.cu": source})
    assert (warning.severity, warning.file, warning.line) == (Severity.WARNING, "kernels/a.cu", 2)
    assert warning.column == 3
    assert warning.message.startswith(
        f"kernel {corrected.split('<<<')[0]} is launched on the default"
    )
    assert warning.message.endswith(f"write {corrected}")


def test_a_launcher_without_the_parameter_is_told_to_take_one() -> None:
    (warning,) = told('extern "C" void f(float* out) { k<<<1, 2>>>(out); }')
    remedy = (
        "write k<<<1, 2, 0, stream>>>(...), and give f() a last parameter `cudaStream_t stream`"
    )
    assert warning.endswith(remedy)


def test_the_stream_is_called_as_the_launcher_calls_it() -> None:
    (warning,) = told('extern "C" void f(float* out, void* cuda_stream) { k<<<1, 2>>>(out); }')
    assert warning.endswith("write k<<<1, 2, 0, cuda_stream>>>(...)")
    (warning,) = told('extern "C" int f(const cudaStream_t q) { k<<<1, 2>>>(); return 0; }')
    assert warning.endswith("write k<<<1, 2, 0, q>>>(...)")


@pytest.mark.parametrize(
    "source",
    [
        'extern "C" void f(cudaStream_t s) { k<<<1, 2, 0, s>>>(); }',
        'extern "C" void f() { cudaStream_t mine = make(); k<<<1, 2, 0, mine>>>(); }',
        "__global__ void parent() { child<<<1, 1>>>(); }",
        'extern "C" void f(cudaStream_t s) { /* k<<<1, 2>>>(); */ helper(s); }',
        'extern "C" void f(int n) { if (n << 3 > 2) return; }',
    ],
)
def test_a_launch_that_names_a_stream_is_left_alone(source: str) -> None:
    assert told(source) == []


def test_what_cannot_be_read_is_left_to_the_compiler() -> None:
    assert len(told("void f() { k<<<1, 2>>>(); }\n#if 0\n <<< torn\n#endif")) == 1


def test_many_launches_are_folded() -> None:
    launches = "\n".join("k<<<1, 2>>>();" for _ in range(10))
    warnings = told(f"void f(cudaStream_t s) {{\n{launches}\n}}")
    assert len(warnings) == 4
    assert "7 more launches" in warnings[-1]
    assert "kernels/a.cu:11" in warnings[-1]
