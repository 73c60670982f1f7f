// __syncthreads and its relatives; memory fences.
#pragma once

#include "fibers.h"

namespace cuda_on_cpu {

#if CUDA_ON_CPU_OUTLINED

CUDA_ON_CPU_INLINE int wait_for_block(Barrier kind, int predicate) {
  return cuda_on_cpu_wait_for_block(kind, predicate, here());
}

#else

CUDA_ON_CPU_INLINE int wait_for_block(Barrier kind, int predicate) {
  Block* const block = block_to_wait_in("__syncthreads");
  const unsigned thread = block->current->thread;
  if (block->num_at_barrier == 0) {
    block->barrier = kind;
    block->barrier_sum = 0;
  } else if (__builtin_expect(block->barrier != kind, 0)) {
    cuda_on_cpu_mixed_barriers(block, kind);
  }
  block->barrier_sum += kind == Barrier::all ? predicate == 0 : predicate != 0;
  if (++block->num_at_barrier + block->num_finished == block->num_threads) {
    cuda_on_cpu_release_barrier(block);
  } else {
    block->at_barrier[thread >> 5] |= 1u << (thread & 31);
    suspend(block, thread);
  }
  return block->barrier_result;
}

#endif

}  // namespace cuda_on_cpu

CUDA_ON_CPU_INLINE void __syncthreads() {
  cuda_on_cpu::wait_for_block(cuda_on_cpu::Barrier::plain, 0);
}
CUDA_ON_CPU_INLINE int __syncthreads_count(int predicate) {
  return cuda_on_cpu::wait_for_block(cuda_on_cpu::Barrier::count, predicate);
}
CUDA_ON_CPU_INLINE int __syncthreads_and(int predicate) {
  return cuda_on_cpu::wait_for_block(cuda_on_cpu::Barrier::all, predicate) == 0;
}
CUDA_ON_CPU_INLINE int __syncthreads_or(int predicate) {
  return cuda_on_cpu::wait_for_block(cuda_on_cpu::Barrier::any, predicate) != 0;
}

CUDA_ON_CPU_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
CUDA_ON_CPU_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#if CUDA_ON_CPU_CHECKING
CUDA_ON_CPU_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#else
// The threads of a block share one OS thread: only the compiler must not reorder.
CUDA_ON_CPU_INLINE void __threadfence_block() { __asm__ __volatile__("" ::: "memory"); }
#endif
CUDA_ON_CPU_INLINE void __nanosleep(unsigned) { cuda_on_cpu::yield(); }
CUDA_ON_CPU_INLINE void __trap() { cuda_on_cpu_trap(); }
CUDA_ON_CPU_INLINE void __brkpt() { cuda_on_cpu_trap(); }
