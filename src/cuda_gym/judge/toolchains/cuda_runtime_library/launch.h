// What is known of a launch before it is made.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace launch_recorder {

struct Extent {
  uint32_t x, y, z;
};

inline Extent extent(const dim3& size) { return {size.x, size.y, size.z}; }

struct Launch {
  // The host's function of the kernel, or the runtime's handle for it; null for a CUDA graph.
  const void* kernel;
  Extent grid, block;
  uint64_t shared_bytes;
  // As events are recorded on it: the default stream of a thread has a name of its own here.
  cudaStream_t stream;
  bool is_cooperative;
};

}  // namespace launch_recorder
