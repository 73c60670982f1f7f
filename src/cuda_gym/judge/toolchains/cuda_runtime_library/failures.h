// The first launch that failed, with all that explains it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "launch.h"

namespace launch_recorder {

// As launch_recorder.py reads it; -1 stands for what is not known.
struct Failure {
  const char* kernel;  // null where no launch is to blame
  const char* text;    // the runtime's own words
  int32_t status;
  int32_t is_cooperative;
  uint32_t grid[3], block[3];
  int64_t shared_bytes;          // asked for at the launch
  int64_t static_bytes;          // of the kernel
  int64_t allowed_shared_bytes;  // at a launch of this kernel
  int64_t default_shared_bytes;  // of a block, without being asked for
  int64_t most_shared_bytes;     // of a block, on request
  int32_t registers;             // of a thread
  int32_t most_block_threads;    // of this kernel
  int64_t resident_blocks;       // of this kernel, on the whole device
};

// Everything that the runtime tells of a launch that it refused. What it holds as its last error stays.
Failure explain(const Launch& launch, cudaError_t status);

}  // namespace launch_recorder
