// Cooperative groups within a block: the block itself, tiles of a warp, and coalesced threads.
// Grids and clusters are refused before the compiler sees them.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

struct thread_block {
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return cuda_on_cpu::thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_index() { return blockIdx; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned Size, class Parent = void>
struct thread_block_tile {
  static_assert(Size && (Size & (Size - 1)) == 0 && Size <= 32,
                "a tile has 1, 2, 4, 8, 16 or 32 threads on the cpu device");
  thread_block_tile() = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) {}

  static unsigned thread_rank() { return cuda_on_cpu::lane() & (Size - 1); }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned meta_group_rank() { return cuda_on_cpu::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }

  void sync() const { __syncwarp(mask()); }
  template <class T>
  T shfl(T v, int source) const {
    return __shfl_sync(mask(), v, source, Size);
  }
  template <class T>
  T shfl_xor(T v, unsigned lane_mask) const {
    return __shfl_xor_sync(mask(), v, (int)lane_mask, Size);
  }
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    return __shfl_down_sync(mask(), v, delta, Size);
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    return __shfl_up_sync(mask(), v, delta, Size);
  }
  unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first_lane(); }
  int any(int predicate) const { return __any_sync(mask(), predicate); }
  int all(int predicate) const { return __all_sync(mask(), predicate); }
  template <class T>
  unsigned match_any(T v) const {
    return __match_any_sync(mask(), v) >> first_lane();
  }

 private:
  static unsigned first_lane() { return cuda_on_cpu::lane() & ~(Size - 1); }
  static unsigned mask() { return (unsigned)(((1ull << Size) - 1) << first_lane()); }
};
template <unsigned Size, class Group>
inline thread_block_tile<Size, Group> tiled_partition(const Group&) {
  return {};
}

// Lanes that met at coalesced_threads(), numbered from 0.
struct coalesced_group {
  unsigned lanes;

  unsigned thread_rank() const { return __popc(lanes & ((1u << cuda_on_cpu::lane()) - 1)); }
  unsigned size() const { return __popc(lanes); }
  unsigned num_threads() const { return size(); }
  void sync() const { __syncwarp(lanes); }
  template <class T>
  T shfl(T v, unsigned source) const {
    return __shfl_sync(lanes, v, lane_of(source));
  }
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    const unsigned rank = thread_rank() + delta;
    return __shfl_sync(lanes, v, rank < size() ? lane_of(rank) : cuda_on_cpu::lane());
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(lanes, v, rank >= delta ? lane_of(rank - delta) : cuda_on_cpu::lane());
  }
  int any(int predicate) const { return __any_sync(lanes, predicate); }
  int all(int predicate) const { return __all_sync(lanes, predicate); }
  unsigned ballot(int predicate) const {
    const unsigned votes = __ballot_sync(lanes, predicate);
    unsigned packed = 0;
    for (unsigned rank = 0, n = size(); rank < n; ++rank) packed |= (votes >> lane_of(rank) & 1u) << rank;
    return packed;
  }

 private:
  int lane_of(unsigned rank) const {
    unsigned rest = lanes;
    while (rank-- && rest) rest &= rest - 1;
    return __builtin_ctz(rest);
  }
};
inline coalesced_group coalesced_threads(int site = __builtin_LINE()) {
  return {cuda_on_cpu::converge(site)};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

template <class Group, class T, class Operation>
inline T reduce(const Group& group, T v, Operation operation) {
  for (unsigned offset = Group::size() / 2; offset; offset /= 2)
    v = operation(v, group.shfl_xor(v, offset));
  return v;
}
template <class Operation, class T>
inline T reduce(const coalesced_group& group, T v, Operation operation) {
  T sum = group.shfl(v, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) sum = operation(sum, group.shfl(v, rank));
  return sum;
}
template <class Group, class T, class Operation>
inline T inclusive_scan(const Group& group, T v, Operation operation) {
  for (unsigned offset = 1; offset < group.size(); offset *= 2) {
    const T other = group.shfl_up(v, offset);
    if (group.thread_rank() >= offset) v = operation(other, v);
  }
  return v;
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
template <class Group, class T, class Operation>
inline T exclusive_scan(const Group& group, T v, Operation operation) {
  const T before = group.shfl_up(inclusive_scan(group, v, operation), 1);
  return group.thread_rank() ? before : T();
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T v) {
  return exclusive_scan(group, v, plus<T>());
}
template <class Group>
inline void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
