// What a GPU refuses to launch.

#include <atomic>

#include "runtime.h"

namespace cuda_on_cpu {
namespace {

constexpr int default_dynamic_shared = 48 << 10;
constexpr int largest_dynamic_shared = 227 << 10;

std::atomic<int> allowed_dynamic_shared{default_dynamic_shared};

}  // namespace

bool is_within_limits(const Launch& launch) {
  const Extent grid = launch.grid, block = launch.block;
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || threads > 1024 || grid.x > 0x7fffffffu ||
      grid.y > 65535 || grid.z > 65535) {
    set_error(invalid_configuration,
              "kernel %s: invalid configuration, grid (%u,%u,%u) and block (%u,%u,%u); a block has 1 "
              "to 1024 threads and at most 64 along z, a grid at least 1 block and at most 65535 "
              "along y and z",
              launch.kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z);
    return false;
  }
  if ((uint64_t)grid.x * block.x > 0x7fffffffu - 1024) {
    set_error(invalid_configuration,
              "kernel %s: %llu threads along x; the cpu device runs fewer than 2^31 - 1024",
              launch.kernel, (unsigned long long)grid.x * block.x);
    return false;
  }
  if (launch.shared_bytes > (size_t)allowed_dynamic_shared) {
    set_error(invalid_value,
              "kernel %s: %zu bytes of dynamic shared memory; more than %d need cudaFuncSetAttribute("
              "kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), and %d are the most",
              launch.kernel, launch.shared_bytes, default_dynamic_shared, largest_dynamic_shared);
    return false;
  }
  return true;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

extern "C" {

int cuda_on_cpu_dynamic_shared_limit(void) { return allowed_dynamic_shared; }

// Allowed once, allowed for every kernel: what matters is that it was asked for at all.
int cuda_on_cpu_allow_dynamic_shared(int bytes) {
  if (bytes < 0 || bytes > largest_dynamic_shared) return invalid_value;
  int allowed = allowed_dynamic_shared;
  while (bytes > allowed && !allowed_dynamic_shared.compare_exchange_weak(allowed, bytes)) {
  }
  return 0;
}

}  // extern "C"
