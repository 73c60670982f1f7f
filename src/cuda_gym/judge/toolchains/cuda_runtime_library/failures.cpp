#include "failures.h"

#include "kernel_names.h"

namespace launch_recorder {
namespace {

int attribute(cudaDeviceAttr name, int device) {
  int value = -1;
  return cudaDeviceGetAttribute(&value, name, device) == cudaSuccess ? value : -1;
}

void explain_kernel(const Launch& launch, const void* function, int device, Failure* out) {
  cudaFuncAttributes has{};
  if (cudaFuncGetAttributes(&has, function) != cudaSuccess) return;
  out->static_bytes = (int64_t)has.sharedSizeBytes;
  out->allowed_shared_bytes = has.maxDynamicSharedSizeBytes;
  out->registers = has.numRegs;
  out->most_block_threads = has.maxThreadsPerBlock;
  int blocks = 0;
  const int threads = (int)(launch.block.x * launch.block.y * launch.block.z);
  const int multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  if (launch.is_cooperative && multiprocessors > 0 &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                    launch.shared_bytes) == cudaSuccess)
    out->resident_blocks = (int64_t)blocks * multiprocessors;
}

}  // namespace

Failure explain(const Launch& launch, cudaError_t status) {
  Failure failure{};
  failure.kernel = kernel_names.name_of(launch.kernel);
  failure.text = cudaGetErrorString(status);
  failure.status = status;
  failure.is_cooperative = launch.is_cooperative;
  const Extent extents[] = {launch.grid, launch.block};
  uint32_t* const places[] = {failure.grid, failure.block};
  for (int i = 0; i < 2; ++i) {
    places[i][0] = extents[i].x;
    places[i][1] = extents[i].y;
    places[i][2] = extents[i].z;
  }
  failure.shared_bytes = (int64_t)launch.shared_bytes;
  failure.static_bytes = failure.allowed_shared_bytes = -1;
  failure.default_shared_bytes = failure.most_shared_bytes = failure.resident_blocks = -1;
  failure.registers = failure.most_block_threads = -1;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return failure;
  failure.default_shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlock, device);
  failure.most_shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (launch.kernel)
    explain_kernel(launch, kernel_names.function_of(launch.kernel), device, &failure);
  return failure;
}

}  // namespace launch_recorder
