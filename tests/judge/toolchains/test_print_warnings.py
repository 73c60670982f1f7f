"""A kernel that prints is told before it is timed."""

from __future__ import annotations

from cuda_gym.judge.toolchains.print_warnings import print_warnings

SOURCE = """
// printf("in a comment");
__device__ float f(float x) {
  printf("%f", x);
  printf("%f", x);
  return x;
}
__global__ void quiet(float* x) { const char* text = "printf("; *x = f(*x); }
void host() { printf("done"); }
"""


def test_the_first_printf_of_each_device_function_is_told() -> None:
    (warning,) = print_warnings({"kernels/a.cu": SOURCE, "kernels/b.cuh": SOURCE})
    assert (warning.file, warning.line, warning.column) == ("kernels/a.cu", 4, 3)
    assert "take it out before profile" in warning.message
