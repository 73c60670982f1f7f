// What a GPU refuses to launch.

#include <atomic>

#include "runtime.h"

namespace cuda_on_cpu {
namespace {

constexpr int default_dynamic_shared = 48 << 10;
constexpr int largest_dynamic_shared = 227 << 10;

std::atomic<int> allowed_dynamic_shared{default_dynamic_shared};

// What is wrong with a grid and a block on any device, with the way out; null where nothing is.
const char* fault_of(const Extent& grid, const Extent& block) {
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.x > 1024 || block.y > 1024)
    return "a block has 1 to 1024 threads; take a smaller block and more blocks";
  if (block.z > 64) return "a block has at most 64 threads along z; use x and y";
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return "a grid has at least 1 block; launch nothing where there is nothing to compute";
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return "a grid has at most 65535 blocks along y and z; use x for what is long";
  return nullptr;
}

}  // namespace

bool is_within_limits(const Launch& launch) {
  const Extent grid = launch.grid, block = launch.block;
  if (const char* const fault = fault_of(grid, block)) {
    set_error(invalid_configuration,
              "kernel %s: invalid configuration, grid (%u,%u,%u) and block (%u,%u,%u): %s",
              launch.kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, fault);
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
