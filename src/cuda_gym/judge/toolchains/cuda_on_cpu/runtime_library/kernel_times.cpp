// How often each kernel was launched since it was asked for, for how long, and how large.

#include "kernel_times.h"

#include <cstring>

namespace cuda_on_cpu {

std::atomic<bool> are_launches_timed{false};

}  // namespace cuda_on_cpu

namespace {

// As runtime.py reads it.
struct KernelTime {
  const char* kernel;
  uint64_t launches, total_ns;
  uint32_t grid[3], block[3];  // of the longest launch
  uint64_t longest_ns;
};

// Beyond it, kernels share the last place.
constexpr unsigned most_kernels = 32;
KernelTime times[most_kernels];
unsigned num_times = 0;

KernelTime& time_of(const char* kernel) {
  for (unsigned i = 0; i < num_times; ++i)
    if (!strcmp(times[i].kernel, kernel)) return times[i];
  if (num_times == most_kernels) return times[most_kernels - 1];
  times[num_times] = KernelTime{};
  times[num_times].kernel = kernel;
  return times[num_times++];
}

}  // namespace

void cuda_on_cpu::note_launch(const Launch& launch, uint64_t nanoseconds) {
  KernelTime& time = time_of(launch.kernel);
  ++time.launches;
  time.total_ns += nanoseconds;
  if (nanoseconds < time.longest_ns) return;
  time.longest_ns = nanoseconds;
  const Extent extents[] = {launch.grid, launch.block};
  uint32_t* const places[] = {time.grid, time.block};
  for (int i = 0; i < 2; ++i) {
    places[i][0] = extents[i].x;
    places[i][1] = extents[i].y;
    places[i][2] = extents[i].z;
  }
}

extern "C" {

// Forgets what was noted, and notes from now on, or no longer. Not while a kernel runs.
void cuda_on_cpu_time_kernels(int on) {
  num_times = 0;
  cuda_on_cpu::are_launches_timed = on != 0;
}

// The kernels in the order of their first launches; false behind the last one.
int cuda_on_cpu_kernel_time(unsigned number, KernelTime* out) {
  if (number >= num_times) return 0;
  *out = times[number];
  return 1;
}

}  // extern "C"
