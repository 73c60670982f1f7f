// clock() in a kernel of a program counts the cycles that cudaDeviceProp::clockRate promises, 10^9 a
// second; on the host it stays what the C library has. A process that has loaded that one before, as
// Python has, keeps it in kernels too.

#include <time.h>

#include "runtime.h"

extern "C" __attribute__((visibility("default"))) clock_t clock(void) noexcept {
  const bool is_in_kernel = cuda_on_cpu_block->launch != nullptr;
  timespec now;
  clock_gettime(is_in_kernel ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
  constexpr long nanoseconds = 1000000000;
  const long a_second = is_in_kernel ? nanoseconds : CLOCKS_PER_SEC;
  return (clock_t)(now.tv_sec * a_second + now.tv_nsec / (nanoseconds / a_second));
}
