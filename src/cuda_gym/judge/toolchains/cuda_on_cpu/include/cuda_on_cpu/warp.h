// Warp shuffles, votes, matches and reductions.
//
// Each lane brings its value; the last one of the mask to arrive computes every lane's result, so
// that two groups of one warp with different masks never disturb each other. Lanes that have
// returned no longer count.
#pragma once

#include <cstring>

#include "fibers.h"

namespace cuda_on_cpu {

#if CUDA_ON_CPU_OUTLINED

CUDA_ON_CPU_INLINE unsigned thread_rank() { return cuda_on_cpu_thread_rank(); }
CUDA_ON_CPU_INLINE unsigned lane() { return thread_rank() & 31; }
CUDA_ON_CPU_INLINE uint64_t meet(WarpOperation operation, unsigned mask, uint64_t value) {
  return cuda_on_cpu_meet(operation, mask, value, 0, here());
}

template <class T, class Source>
CUDA_ON_CPU_INLINE T shuffle(unsigned mask, T value, Source source) {
  static_assert(sizeof(T) <= 8, "a warp shuffle moves at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = cuda_on_cpu_meet(WarpOperation::shuffle, mask, bits, source((int)lane()), here());
  T moved;
  memcpy((void*)&moved, &bits, sizeof(T));
  return moved;
}

CUDA_ON_CPU_INLINE unsigned converge(int site) { return cuda_on_cpu_converge(site, here()); }

#else

CUDA_ON_CPU_INLINE unsigned thread_rank() {
  const Fiber* const current = cuda_on_cpu_block->current;
  if (current) return current->thread;
  return ::threadIdx.x + ::blockDim.x * (::threadIdx.y + ::blockDim.y * ::threadIdx.z);
}
CUDA_ON_CPU_INLINE unsigned lane() { return thread_rank() & 31; }

CUDA_ON_CPU_INLINE uint64_t meet(Block* block, unsigned thread, WarpOperation operation,
                                 unsigned mask, uint64_t value, unsigned source_lane = 0) {
  const unsigned warp = thread >> 5, self = 1u << (thread & 31);
  if (__builtin_expect(!(mask & self), 0)) cuda_on_cpu_mask_without_self(block, thread, mask);
  block->value[thread] = value;
  block->source_lane[thread] = (unsigned char)source_lane;
  block->operation[thread] = operation;
  block->mask[thread] = mask;
  const unsigned arrived = block->arrived[warp] |= self;
  const unsigned expected = mask & block->exists[warp] & ~block->finished[warp];
  if ((arrived & expected) == expected && cuda_on_cpu_complete(block, warp, expected)) {
    block->arrived[warp] = arrived & ~expected;
    block->ready[warp] |= expected & ~self;
  } else {
    suspend(block, thread);
  }
  return block->result[thread];
}

CUDA_ON_CPU_INLINE uint64_t meet(WarpOperation operation, unsigned mask, uint64_t value) {
  Block* const block = block_to_wait_in("a warp operation");
  return meet(block, block->current->thread, operation, mask, value);
}

// `source` gives the lane to read from for the own lane.
template <class T, class Source>
CUDA_ON_CPU_INLINE T shuffle(unsigned mask, T value, Source source) {
  static_assert(sizeof(T) <= 8, "a warp shuffle moves at most 8 bytes");
  Block* const block = block_to_wait_in("a warp shuffle");
  const unsigned thread = block->current->thread;
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = meet(block, thread, WarpOperation::shuffle, mask, bits, source((int)(thread & 31)));
  T moved;
  memcpy((void*)&moved, &bits, sizeof(T));
  return moved;
}

// Lanes that wait here together with the caller: as many as can be.
CUDA_ON_CPU_INLINE unsigned converge(int site) {
  Block* const block = block_to_wait_in("__activemask");
  const unsigned thread = block->current->thread;
  block->site[thread] = site;
  block->converging[thread >> 5] |= 1u << (thread & 31);
  suspend(block, thread);
  return (unsigned)block->result[thread];
}

#endif

}  // namespace cuda_on_cpu

CUDA_ON_CPU_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  cuda_on_cpu::meet(cuda_on_cpu::WarpOperation::sync, mask, 0);
}
CUDA_ON_CPU_INLINE unsigned __activemask(int site = __builtin_LINE()) {
  return cuda_on_cpu::converge(site);
}

template <class T>
CUDA_ON_CPU_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return cuda_on_cpu::shuffle(
      mask, value, [=](int lane) { return (lane & ~(width - 1)) + (source & (width - 1)); });
}
template <class T>
CUDA_ON_CPU_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return cuda_on_cpu::shuffle(mask, value, [=](int lane) {
    const int source = lane ^ lane_mask;
    return source < (lane & ~(width - 1)) + width ? source : lane;
  });
}
template <class T>
CUDA_ON_CPU_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return cuda_on_cpu::shuffle(mask, value, [=](int lane) {
    return (lane & (width - 1)) + (int)delta < width ? lane + (int)delta : lane;
  });
}
template <class T>
CUDA_ON_CPU_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return cuda_on_cpu::shuffle(mask, value, [=](int lane) {
    return (lane & (width - 1)) >= (int)delta ? lane - (int)delta : lane;
  });
}

CUDA_ON_CPU_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return (unsigned)cuda_on_cpu::meet(cuda_on_cpu::WarpOperation::ballot, mask, predicate != 0);
}
CUDA_ON_CPU_INLINE int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
CUDA_ON_CPU_INLINE int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

template <class T>
CUDA_ON_CPU_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) <= 8, "__match_any_sync compares at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return (unsigned)cuda_on_cpu::meet(cuda_on_cpu::WarpOperation::match_any, mask, bits);
}
template <class T>
CUDA_ON_CPU_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all_equal) {
  static_assert(sizeof(T) <= 8, "__match_all_sync compares at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  const auto lanes = (unsigned)cuda_on_cpu::meet(cuda_on_cpu::WarpOperation::match_all, mask, bits);
  *all_equal = lanes != 0;
  return lanes;
}

#define CUDA_ON_CPU_REDUCE(name, type, operation)                                          \
  CUDA_ON_CPU_INLINE type name(unsigned mask, type value) {                                \
    return (type)(unsigned)cuda_on_cpu::meet(cuda_on_cpu::WarpOperation::operation, mask, \
                                             (unsigned)value);                             \
  }
CUDA_ON_CPU_REDUCE(__reduce_add_sync, unsigned, add)
CUDA_ON_CPU_REDUCE(__reduce_add_sync, int, add)
CUDA_ON_CPU_REDUCE(__reduce_min_sync, unsigned, min)
CUDA_ON_CPU_REDUCE(__reduce_min_sync, int, min_signed)
CUDA_ON_CPU_REDUCE(__reduce_max_sync, unsigned, max)
CUDA_ON_CPU_REDUCE(__reduce_max_sync, int, max_signed)
CUDA_ON_CPU_REDUCE(__reduce_and_sync, unsigned, bit_and)
CUDA_ON_CPU_REDUCE(__reduce_or_sync, unsigned, bit_or)
CUDA_ON_CPU_REDUCE(__reduce_xor_sync, unsigned, bit_xor)
#undef CUDA_ON_CPU_REDUCE
