// The state of the block that an OS thread is running: shared by the kernels' library, which waits
// inline, and the runtime library, which schedules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "language.h"
#include "vector_types.h"

namespace cuda_on_cpu {

// Other names for uint3 and dim3: a kernel may call a variable of its own `dim3`.
using Index = uint3;
using Extent = dim3;

constexpr unsigned max_threads = 1024;
constexpr unsigned max_warps = 32;

// What a kernel gets as its hidden first parameter: who it is.
struct Thread {
  Index thread_index, block_index;
  Extent block_size, grid_size;
};

// A CUDA thread that had to wait, and the stack it waits on.
struct Fiber {
  void* stack_pointer;
  unsigned thread;  // linear index in the block
  Index index;
  Fiber* next_free;
  char* stack;
};

enum class Barrier : int { plain, count, all, any };

enum class WarpOperation : unsigned char {
  sync, shuffle, ballot, match_any, match_all, add, min, max, min_signed, max_signed,
  bit_and, bit_or, bit_xor
};

struct Launch;

struct Block {
  Fiber* current;  // null while the threads of the block run as loops
  unsigned num_threads, num_warps, num_started, num_finished, num_at_barrier;
  unsigned num_spins;

  Barrier barrier;
  int barrier_sum;     // of the barrier that threads are arriving at
  int barrier_result;  // of the barrier that was released last

  // One bit a lane, one word a warp.
  unsigned exists[max_warps], finished[max_warps];
  unsigned ready[max_warps];       // may run
  unsigned at_barrier[max_warps];  // wait for the block
  unsigned arrived[max_warps];     // wait for a warp operation
  unsigned converging[max_warps];  // wait at __activemask until no lane of the warp can run

  // One element a thread: what it brought to a warp operation, and what came of it.
  Fiber* fiber[max_threads];
  uint64_t value[max_threads], result[max_threads];
  unsigned mask[max_threads];
  WarpOperation operation[max_threads];
  unsigned char source_lane[max_threads];
  int site[max_threads];
#if CUDA_ON_CPU_CHECKING
  uintptr_t place[max_threads];  // in the code, where it waits
#endif

  const Launch* launch;
  Index index;
  Fiber* free_fibers;
  void* main_stack_pointer;
  bool is_abandoned;  // a fault was found: the remaining threads will not run
};

}  // namespace cuda_on_cpu

extern thread_local CUDA_ON_CPU_TLS uint3 threadIdx;
extern thread_local CUDA_ON_CPU_TLS uint3 blockIdx;
extern thread_local CUDA_ON_CPU_TLS dim3 blockDim;
extern thread_local CUDA_ON_CPU_TLS dim3 gridDim;
static constexpr int warpSize = 32;

// The checking build compiles what waits into the runtime library, so that only the accesses of the
// kernels themselves are instrumented.
#if CUDA_ON_CPU_CHECKING && !CUDA_ON_CPU_RUNTIME
#define CUDA_ON_CPU_OUTLINED 1
#else
#define CUDA_ON_CPU_OUTLINED 0
#endif

extern "C" {
// Never null: outside of kernels it is a block without a current thread.
extern thread_local CUDA_ON_CPU_TLS cuda_on_cpu::Block* cuda_on_cpu_block;
extern thread_local CUDA_ON_CPU_TLS char* cuda_on_cpu_dynamic_shared;

// Another fiber that can run, in turn after `thread`. Does not return where there is none.
cuda_on_cpu::Fiber* cuda_on_cpu_next_fiber(cuda_on_cpu::Block*, unsigned thread);
void cuda_on_cpu_release_barrier(cuda_on_cpu::Block*);
// All of `lanes` have brought their values: compute every lane's result. False where some of them
// wait with another mask: those are still to come, after what they wait for.
bool cuda_on_cpu_complete(cuda_on_cpu::Block*, unsigned warp, unsigned lanes);
[[noreturn]] void cuda_on_cpu_mixed_barriers(cuda_on_cpu::Block*, cuda_on_cpu::Barrier);
[[noreturn]] void cuda_on_cpu_mask_without_self(cuda_on_cpu::Block*, unsigned thread, unsigned mask);
[[noreturn]] void cuda_on_cpu_wait_in_loop(const char* what);
[[noreturn]] void cuda_on_cpu_trap(void);

#if CUDA_ON_CPU_CHECKING
int cuda_on_cpu_wait_for_block(cuda_on_cpu::Barrier, int predicate, uintptr_t place);
uint64_t cuda_on_cpu_meet(cuda_on_cpu::WarpOperation, unsigned mask, uint64_t value,
                          unsigned source_lane, uintptr_t place);
unsigned cuda_on_cpu_converge(int site, uintptr_t place);
unsigned cuda_on_cpu_thread_rank(void);
void cuda_on_cpu_yield(bool now_and_then, uintptr_t place);
// Tells of a shared variable and the margins around it; the same each time.
bool cuda_on_cpu_note_variable(const void* start, size_t bytes, const char* name);
bool cuda_on_cpu_note_shared(const void* start, size_t bytes, size_t margin, const char* name);
#endif
}

namespace cuda_on_cpu {

// A place in the code, of which the debug information knows the line: inlined, that of the caller.
CUDA_ON_CPU_INLINE uintptr_t here() {
  uintptr_t place;
#if defined(__x86_64__)
  __asm__ __volatile__("leaq 0(%%rip), %0" : "=r"(place));
#else
  __asm__ __volatile__("adr %0, ." : "=r"(place));
#endif
  return place;
}

// The current block, in which a thread is about to wait.
CUDA_ON_CPU_INLINE Block* block_to_wait_in(const char* what) {
  Block* const block = cuda_on_cpu_block;
  if (__builtin_expect(!block->current, 0)) cuda_on_cpu_wait_in_loop(what);
  return block;
}

}  // namespace cuda_on_cpu
