// Runs the CUDA threads of one block as fibers of one OS thread.
//
// Threads are started one after another on demand: only a thread that waits keeps its stack, and a
// thread that returns leaves its stack to the next one.

#include "runtime.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace cuda_on_cpu {
namespace {

constexpr size_t page_bytes = 4096;
constexpr unsigned stacks_at_a_time = 32;

[[noreturn]] void leave(Block* block) {
  void* never_resumed;
  switch_stacks(&never_resumed, block->main_stack_pointer);
  __builtin_unreachable();
}

void add_fibers(Block* block) {
  void* const memory = mmap(nullptr, stack_bytes * stacks_at_a_time, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "no memory for the stacks of the threads of a block\n");
    abort();
  }
  Fiber* const fibers = new Fiber[stacks_at_a_time];
  for (unsigned i = 0; i < stacks_at_a_time; ++i) {
    Fiber* const fiber = &fibers[i];
    fiber->stack = static_cast<char*>(memory) + i * stack_bytes;
    // Where the number of mappings is exhausted an overflow goes unnoticed, and nothing else.
    (void)mprotect(fiber->stack, page_bytes, PROT_NONE);
    fiber->next_free = block->free_fibers;
    block->free_fibers = fiber;
  }
}

void free_fiber(Block* block, Fiber* fiber) {
  fiber->next_free = block->free_fibers;
  block->free_fibers = fiber;
}

void start_next_thread(Block* block, Fiber* fiber) {
  const unsigned thread = block->num_started++;
  const Extent size = block->launch->block;
  fiber->thread = thread;
  fiber->index = {thread % size.x, thread / size.x % size.y, thread / (size.x * size.y)};
  block->fiber[thread] = fiber;
}

void run_threads();

Fiber* start_on_new_stack(Block* block) {
  if (!block->free_fibers) add_fibers(block);
  Fiber* const fiber = block->free_fibers;
  block->free_fibers = fiber->next_free;
  // Equal offsets in every stack would fall into the same few cache sets.
  const size_t stagger = reinterpret_cast<uintptr_t>(fiber->stack) / stack_bytes % 59 * 64;
  void** const top = reinterpret_cast<void**>(fiber->stack + stack_bytes - 256 - stagger);
  // What a waiting stack holds: the address to go on at. A function finds its stack 16-byte aligned
  // but for a return address on x86-64, aligned on aarch64.
  top[0] = reinterpret_cast<void*>(run_threads);
  top[1] = nullptr;
  fiber->stack_pointer = top;
  start_next_thread(block, fiber);
  return fiber;
}

Fiber* take_ready(Block* block, unsigned warp, unsigned lanes = 0xffffffffu) {
  const unsigned ready = block->ready[warp] & lanes;
  if (!ready) return nullptr;
  block->ready[warp] &= ~(ready & -ready);
  return block->fiber[warp * 32 + __builtin_ctz(ready)];
}

// No lane of the warp can run: those that wait at one __activemask are all that will come.
void release_converged(Block* block, unsigned warp) {
  const unsigned waiting = block->converging[warp];
  const int site = block->site[warp * 32 + __builtin_ctz(waiting)];
  unsigned together = 0;
  for (unsigned rest = waiting; rest; rest &= rest - 1) {
    const unsigned lane = __builtin_ctz(rest);
    if (block->site[warp * 32 + lane] == site) together |= 1u << lane;
  }
  for (unsigned rest = together; rest; rest &= rest - 1)
    block->result[warp * 32 + __builtin_ctz(rest)] = together;
  block->converging[warp] = waiting & ~together;
  block->ready[warp] |= together;
}

unsigned first_at_barrier(const Block* block) {
  for (unsigned warp = 0; warp < block->num_warps; ++warp)
    if (block->at_barrier[warp]) return warp * 32 + __builtin_ctz(block->at_barrier[warp]);
  return 0;
}

// Lanes that wait for each other with different masks will never meet.
void report_different_masks(Block* block) {
  for (unsigned thread = 0; thread < block->num_threads; ++thread) {
    const unsigned warp = thread / 32, arrived = block->arrived[warp];
    if (!(arrived >> thread % 32 & 1)) continue;
    for (unsigned rest = block->mask[thread] & arrived; rest; rest &= rest - 1) {
      const unsigned other = warp * 32 + __builtin_ctz(rest);
      if (block->mask[other] == block->mask[thread]) continue;
      if (!(block->mask[other] >> thread % 32 & 1)) continue;
      abandon(block, Fault::mismatched_mask, {thread, other},
              "threads %u and %u meet at %s with different masks, 0x%08x and 0x%08x", thread, other,
              name_of(block->operation[thread]), block->mask[thread], block->mask[other]);
    }
  }
}

[[noreturn]] void report_deadlock(Block* block) {
  report_different_masks(block);
  unsigned at_barrier = 0, at_warp_operation = 0, example = max_threads;
  for (unsigned thread = 0; thread < block->num_threads; ++thread) {
    const unsigned warp = thread / 32, lane = 1u << thread % 32;
    if (block->at_barrier[warp] & lane) {
      ++at_barrier;
    } else if (block->arrived[warp] & lane) {
      ++at_warp_operation;
      if (example == max_threads) example = thread;
    }
  }
  char lanes[160] = "";
  if (at_warp_operation)
    snprintf(lanes, sizeof lanes,
             "; thread %u waits for the lanes in mask 0x%08x, and some of them never arrive", example,
             block->mask[example]);
  const unsigned other = at_barrier ? first_at_barrier(block) : example;
  abandon(block, at_warp_operation ? Fault::mismatched_mask : Fault::deadlock, {example, other},
          "deadlock: of %u threads %u have returned, %u wait at __syncthreads and %u at a warp "
          "operation%s",
          block->num_threads, block->num_finished, at_barrier, at_warp_operation, lanes);
}

// A thread that has returned counts in no barrier and in no warp operation.
void finish(Block* block, unsigned thread) {
  const unsigned warp = thread / 32;
  block->finished[warp] |= 1u << thread % 32;
  ++block->num_finished;
  if (block->num_at_barrier && block->num_at_barrier + block->num_finished == block->num_threads)
    cuda_on_cpu_release_barrier(block);
  for (unsigned rest = block->arrived[warp]; rest;) {
    const unsigned lane = __builtin_ctz(rest);
    const unsigned expected =
        block->mask[warp * 32 + lane] & block->exists[warp] & ~block->finished[warp];
    rest &= rest - 1;
    if ((block->arrived[warp] & expected) != expected) continue;
    if (!cuda_on_cpu_complete(block, warp, expected)) continue;
    block->arrived[warp] &= ~expected;
    block->ready[warp] |= expected;
    rest &= ~expected;
  }
}

// The first function on every fiber's stack.
void run_threads() {
  Block* const block = cuda_on_cpu_block;
  for (;;) {
    Fiber* const self = block->current;
    ::threadIdx = self->index;
    const Thread thread{self->index, block->index, block->launch->block, block->launch->grid};
    block->launch->run_thread(block->launch->body, &thread);
    const unsigned warp = self->thread / 32;
    finish(block, self->thread);
    if (block->num_finished == block->num_threads) {
      free_fiber(block, self);
      leave(block);
    }
    Fiber* next = take_ready(block, warp);
    if (!next && block->num_started < block->num_threads) {
      start_next_thread(block, self);
      continue;
    }
    if (!next) next = cuda_on_cpu_next_fiber(block, self->thread);
    free_fiber(block, self);
    block->current = next;
    void* never_resumed;
    switch_stacks(&never_resumed, next->stack_pointer);
  }
}

// After a fault: what still waits will not run again.
void reclaim_abandoned_fibers(Block* block) {
  for (unsigned thread = 0; thread < block->num_started; ++thread) {
    const bool is_finished = block->finished[thread / 32] >> thread % 32 & 1;
    if (!is_finished) free_fiber(block, block->fiber[thread]);
  }
}

}  // namespace

bool run_as_fibers(Block* block) {
  const Extent size = block->launch->block;
  const unsigned num_threads = size.x * size.y * size.z;
  block->num_threads = num_threads;
  block->num_warps = (num_threads + 31) / 32;
  block->num_started = block->num_finished = block->num_at_barrier = 0;
  block->is_abandoned = false;
  for (unsigned warp = 0; warp < block->num_warps; ++warp) {
    block->finished[warp] = block->ready[warp] = block->at_barrier[warp] = 0;
    block->arrived[warp] = block->converging[warp] = 0;
    const unsigned lanes = num_threads - warp * 32;
    block->exists[warp] = lanes < 32 ? (1u << lanes) - 1 : 0xffffffffu;
  }
  block->current = start_on_new_stack(block);
  switch_stacks(&block->main_stack_pointer, block->current->stack_pointer);
  block->current = nullptr;
  if (block->is_abandoned) reclaim_abandoned_fibers(block);
  return !block->is_abandoned;
}

bool is_stack_overflow(const Fiber* fiber, const void* address) {
  const char* const place = static_cast<const char*>(address);
  return fiber && place >= fiber->stack && place < fiber->stack + page_bytes;
}

void abandon_at_access(Block* block, int code, const char* text) {
  const Index thread = block->current->index;
  set_error(code, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s", block->launch->kernel,
            block->index.x, block->index.y, block->index.z, thread.x, thread.y, thread.z, text);
  block->is_abandoned = true;
  leave(block);
}

void abandon(Block* block, Fault fault, std::initializer_list<unsigned> threads, const char* format,
             ...) {
  char what[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  checks::report_waiting(fault, what, threads);
  set_error(launch_failure, "kernel %s, block (%u,%u,%u): %s", block->launch->kernel, block->index.x,
            block->index.y, block->index.z, what);
  block->is_abandoned = true;
  leave(block);
}

namespace {

const char* name_of(Barrier kind) {
  switch (kind) {
    case Barrier::count: return "__syncthreads_count";
    case Barrier::all: return "__syncthreads_and";
    case Barrier::any: return "__syncthreads_or";
    default: return "__syncthreads";
  }
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

extern "C" {

Fiber* cuda_on_cpu_next_fiber(Block* block, unsigned thread) {
  if (block->num_started < block->num_threads) return start_on_new_stack(block);
  unsigned warp = thread / 32;
  // In turn, so that threads which spin do not pass the turn among themselves for ever.
  if (Fiber* const fiber = take_ready(block, warp, 0xfffffffeu << thread % 32)) return fiber;
  for (unsigned i = 0; i < block->num_warps; ++i) {
    if (++warp >= block->num_warps) warp = 0;
    if (!block->ready[warp] && block->converging[warp]) release_converged(block, warp);
    if (Fiber* const fiber = take_ready(block, warp)) return fiber;
  }
  report_deadlock(block);
}

void cuda_on_cpu_release_barrier(Block* block) {
  checks::block_met(block);
  for (unsigned warp = 0; warp < block->num_warps; ++warp) {
    block->ready[warp] |= block->at_barrier[warp];
    block->at_barrier[warp] = 0;
  }
  block->num_at_barrier = 0;
  block->barrier_result = block->barrier_sum;
}

void cuda_on_cpu_mixed_barriers(Block* block, Barrier kind) {
  const unsigned thread = block->current->thread;
  abandon(block, Fault::divergent_barrier, {thread, first_at_barrier(block)},
          "thread %u reaches %s while others of its block wait at %s", thread, name_of(kind),
          name_of(block->barrier));
}

}  // extern "C"
