"""Headers that programs include for tools: profilers, and the parts of CUDA's own header."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_program import build_program, run_program

PROGRAM = """
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <nvToolsExt.h>
#include <sm_20_atomic_functions.h>
#include <sm_61_intrinsics.h>
#if !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__) || CUDA_VERSION < 12000
#error "a helper header declares nothing without these"
#endif

__global__ void measure(long long* ticks) {
  const long long started_64 = clock64();
  const clock_t started = clock();
  while (clock64() - started_64 < 2000000) continue;
  ticks[threadIdx.x] = (clock() - started) * 100 > 2000000;
}

int main() {
  long long* ticks;
  cudaMallocManaged(&ticks, 32 * sizeof *ticks);
  const int depth = nvtxRangePushA("outer");
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "inner";
  const int inner = nvtxRangePushEx(&event);
  measure<<<1, 32>>>(ticks);
  cudaDeviceSynchronize();
  const int left = nvtxRangePop();
  nvtxRangePop();
  printf("%d %d %d %d %lld\\n", depth, inner, left, nvtxRangePop() < 0, ticks[31]);
}
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tools")
    source = folder / "tools.cu"
    source.write_text(PROGRAM)
    return run_program(build_program([source], cache=BuildCache()), deadline_s=20).output


def test_ranges_of_a_profiler_nest_and_a_kernel_counts_cycles_with_the_clock(output: str) -> None:
    assert output == "0 1 1 1 1\n"


def test_every_header_compiles_by_itself(tmp_path: Path) -> None:
    names = ("builtin_types.h", "device_types.h", "host_defines.h", "nvtx3/nvToolsExt.h")
    source = tmp_path / "all.cu"
    source.write_text("".join(f"#include <{name}>\n" for name in names) + "int main() {}\n")
    assert run_program(build_program([source]), deadline_s=20).status == 0
