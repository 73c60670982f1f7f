// Copies from global to shared memory that a GPU does in the background: done at once here.
#pragma once
#include "cuda_runtime.h"

// The last `zero_bytes` of the `bytes` are not read but zero.
CUDA_ON_CPU_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                                size_t zero_bytes = 0) {
  memcpy(to, from, bytes - zero_bytes);
  memset((char*)to + (bytes - zero_bytes), 0, zero_bytes);
}
CUDA_ON_CPU_INLINE void __pipeline_commit() {}
CUDA_ON_CPU_INLINE void __pipeline_wait_prior(size_t) {}
