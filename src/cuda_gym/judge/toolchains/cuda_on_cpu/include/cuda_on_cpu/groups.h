// Groups of threads: the block, tiles of a warp, and lanes that met at one place.
//
// A group inside a warp is the mask of its lanes; each lane has a rank, counted from the lowest.
#pragma once

#include "barriers.h"
#include "bits.h"
#include "exchange.h"

namespace cooperative_groups {

// Any group. The mask is 0 for the block, which is more than a warp.
class thread_group {
 public:
  unsigned long long size() const {
    return lanes_ ? __popc(lanes_) : blockDim.x * blockDim.y * blockDim.z;
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    return lanes_ ? rank_in_warp() : cuda_on_cpu::thread_rank();
  }
  void sync() const {
    if (lanes_)
      __syncwarp(lanes_);
    else
      __syncthreads();
  }

 protected:
  explicit thread_group(unsigned lanes) : lanes_(lanes) {}
  unsigned rank_in_warp() const { return __popc(lanes_ & ((1u << cuda_on_cpu::lane()) - 1)); }

  unsigned lanes_;

  friend thread_group tiled_partition(const thread_group&, unsigned);
};

class thread_block : public thread_group {
 public:
  struct arrival_token {};

  static void sync() { __syncthreads(); }
  // The wait is the whole barrier: a thread may only do what needs no other one in between.
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&) { __syncthreads(); }
  static unsigned thread_rank() { return cuda_on_cpu::thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_index() { return blockIdx; }

 private:
  thread_block() : thread_group(0) {}
  friend thread_block this_thread_block();
};
inline thread_block this_thread_block() { return {}; }

// A group inside a warp: what tiles and coalesced threads have in common. `Self` says which lane
// has a rank, and turns a mask of lanes into one of ranks.
template <class Self>
class group_in_warp : public thread_group {
 public:
  unsigned thread_rank() const { return rank_in_warp(); }
  void sync() const { __syncwarp(lanes_); }
  int any(int predicate) const { return __any_sync(lanes_, predicate); }
  int all(int predicate) const { return __all_sync(lanes_, predicate); }
  unsigned ballot(int predicate) const {
    return self().ranks_of(__ballot_sync(lanes_, predicate));
  }
  template <class T>
  unsigned match_any(T v) const {
    return self().ranks_of(__match_any_sync(lanes_, v));
  }
  template <class T>
  unsigned match_all(T v, int& are_equal) const {
    return self().ranks_of(__match_all_sync(lanes_, v, &are_equal));
  }
  template <class T>
  T shfl(T v, int rank) const {
    return read(v, self().lane_of((unsigned)rank));
  }
  // Where there is no such lane the own value comes back.
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    const unsigned rank = thread_rank() + delta;
    return read(v, rank < self().size() ? self().lane_of(rank) : cuda_on_cpu::lane());
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    const unsigned rank = thread_rank();
    return read(v, rank >= delta ? self().lane_of(rank - delta) : cuda_on_cpu::lane());
  }

  unsigned lanes_in_warp() const { return lanes_; }

 protected:
  explicit group_in_warp(unsigned lanes) : thread_group(lanes) {}
  template <class T>
  T read(T v, unsigned lane) const {
    return cuda_on_cpu::read_lane(lanes_, v, lane);
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

// `Size` neighbours of a warp. Tiles of all parents convert to the one without: only their numbers
// among their siblings differ, and those stay what they were.
template <unsigned Size, class Parent = void>
class thread_block_tile : public group_in_warp<thread_block_tile<Size, Parent>> {
  static_assert(Size && (Size & (Size - 1)) == 0 && Size <= 32,
                "a tile has 1, 2, 4, 8, 16 or 32 threads on the cpu device");
  using Base = group_in_warp<thread_block_tile<Size, Parent>>;

 public:
  thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : Base(own_lanes()), meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& other)
      : thread_block_tile(other.meta_group_rank(), other.meta_group_size()) {}
  thread_block_tile(const thread_block& block)
      : thread_block_tile(block.thread_rank() / Size, (block.size() + Size - 1) / Size) {}

  static unsigned thread_rank() { return cuda_on_cpu::lane() & (Size - 1); }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  template <class T>
  T shfl_xor(T v, unsigned rank_mask) const {
    const unsigned rank = thread_rank() ^ rank_mask;
    return this->read(v, rank < Size ? lane_of(rank) : cuda_on_cpu::lane());
  }

  unsigned lane_of(unsigned rank) const { return first_lane() + (rank & (Size - 1)); }
  unsigned ranks_of(unsigned lanes) const { return lanes >> first_lane(); }

 private:
  static unsigned first_lane() { return cuda_on_cpu::lane() & ~(Size - 1); }
  static unsigned own_lanes() { return (unsigned)(((1ull << Size) - 1) << first_lane()); }

  unsigned meta_rank_, meta_size_;
};
template <unsigned Size>
inline thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return block;
}
template <unsigned Size, unsigned ParentSize, class GrandParent>
inline thread_block_tile<Size, thread_block_tile<ParentSize, GrandParent>> tiled_partition(
    const thread_block_tile<ParentSize, GrandParent>& parent) {
  static_assert(Size <= ParentSize, "a tile is no larger than the tile it is a part of");
  return {parent.thread_rank() / Size, ParentSize / Size};
}
inline thread_block_tile<1> this_thread() { return {0u, 1u}; }

// Lanes that met at coalesced_threads(), or a part of them.
class coalesced_group : public group_in_warp<coalesced_group> {
 public:
  explicit coalesced_group(unsigned lanes, unsigned meta_rank = 0, unsigned meta_size = 1)
      : group_in_warp(lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned size() const { return __popc(lanes_); }
  unsigned num_threads() const { return size(); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  unsigned lane_of(unsigned rank) const {
    unsigned rest = lanes_;
    while (rank-- && (rest & (rest - 1))) rest &= rest - 1;
    return __builtin_ctz(rest);
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned rest = lanes_, rank = 0; rest; rest &= rest - 1, ++rank)
      ranks |= (lanes >> __builtin_ctz(rest) & 1u) << rank;
    return ranks;
  }

 private:
  unsigned meta_rank_, meta_size_;
};
inline coalesced_group coalesced_threads(int site = __builtin_LINE()) {
  return coalesced_group(cuda_on_cpu::converge(site));
}

// Parts of `tile_size` threads, which is only known now; the last part may be smaller.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned tile_size) {
  if (parent.size() <= tile_size) return parent;
  const unsigned first = parent.thread_rank() / tile_size * tile_size;
  unsigned lanes = 0;
  for (unsigned rank = first; rank < first + tile_size && rank < parent.size(); ++rank)
    lanes |= 1u << parent.lane_of(rank);
  return coalesced_group(lanes, first / tile_size, (parent.size() + tile_size - 1) / tile_size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned tile_size) {
  if (parent.lanes_) return tiled_partition(coalesced_group(parent.lanes_), tile_size);
  const unsigned rank = cuda_on_cpu::thread_rank(), first = rank / tile_size * tile_size;
  const unsigned left = thread_block::size() - first;
  const unsigned count = left < tile_size ? left : tile_size;
  return thread_group((unsigned)((1ull << count) - 1) << (first & 31));
}

template <class Group>
inline void sync(const Group& group) {
  group.sync();
}
template <class Group>
inline auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
inline auto group_size(const Group& group) {
  return group.num_threads();
}

}  // namespace cooperative_groups
