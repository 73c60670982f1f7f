// What kernels that run as phases find out about themselves.

#include "../include/cuda_on_cpu/phases.h"

#include "runtime.h"

using namespace cuda_on_cpu;

// Some lanes of a warp are not where all 32 are to meet.
extern "C" void cuda_on_cpu_lanes_missing(void) {
  const Block* const block = cuda_on_cpu_block;
  set_error(launch_failure,
            "kernel %s, block (%u,%u,%u): deadlock: a warp operation waits for all lanes of a warp, "
            "and some of them never arrive",
            block->launch ? block->launch->kernel : "?", block->index.x, block->index.y,
            block->index.z);
}
