// assert() in a kernel of a program: as on a GPU the launch fails with cudaErrorAssert, and the host goes
// on. The C library's own function is replaced; a process that has loaded that one before, as Python has,
// keeps it and ends at a failed assert.

#include <cstdio>
#include <cstdlib>

#include "runtime.h"

using namespace cuda_on_cpu;

extern "C" [[noreturn]] __attribute__((visibility("default"))) void __assert_fail(
    const char* expression, const char* file, unsigned line, const char* function) noexcept {
  Block* const block = cuda_on_cpu_block;
  if (!block->launch) {
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    abort();
  }
  char text[300];
  snprintf(text, sizeof text, "%s:%u: assertion `%s` failed", file, line, expression);
  if (block->current) abandon_at_access(block, assert_failed, text);
  set_error(assert_failed, "kernel %s, block (%u,%u,%u): %s", block->launch->kernel, block->index.x,
            block->index.y, block->index.z, text);
  leave_loops();
}
