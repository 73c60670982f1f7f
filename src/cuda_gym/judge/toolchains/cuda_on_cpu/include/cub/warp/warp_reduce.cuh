// cub::WarpReduce: the result is for the first lane of each logical warp; other lanes get a part.
#pragma once
#include "../../cuda_on_cpu/collectives.h"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32>
class WarpReduce {
  using Warp = cuda_on_cpu::LogicalWarp<LOGICAL_WARP_THREADS>;
  static constexpr int last_rank = LOGICAL_WARP_THREADS - 1;

 public:
  struct TempStorage {};

  WarpReduce(TempStorage&) {}

  template <class Operation>
  T Reduce(T input, Operation operation) {
    return Warp().fold_up_to(input, last_rank, operation);
  }
  template <class Operation>
  T Reduce(T input, Operation operation, int valid_items) {
    return Warp().fold_up_to(input, valid_items - 1, operation);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int valid_items) { return Reduce(input, cub::Sum(), valid_items); }
  T Max(T input) { return Reduce(input, cub::Max()); }
  T Max(T input, int valid_items) { return Reduce(input, cub::Max(), valid_items); }
  T Min(T input) { return Reduce(input, cub::Min()); }
  T Min(T input, int valid_items) { return Reduce(input, cub::Min(), valid_items); }

  // A segment begins at each flag; its first lane gets the result.
  template <class Flag, class Operation>
  T HeadSegmentedReduce(T input, Flag is_head, Operation operation) {
    const Warp warp;
    const unsigned heads = flags(warp, is_head) & ~((2u << warp.rank) - 1);
    const int last = heads ? __builtin_ctz(heads) - 1 : last_rank;
    return warp.fold_up_to(input, last, operation);
  }
  // A segment ends at each flag.
  template <class Flag, class Operation>
  T TailSegmentedReduce(T input, Flag is_tail, Operation operation) {
    const Warp warp;
    const unsigned tails = flags(warp, is_tail) & ~((1u << warp.rank) - 1);
    return warp.fold_up_to(input, tails ? __builtin_ctz(tails) : last_rank, operation);
  }
  template <class Flag>
  T HeadSegmentedSum(T input, Flag is_head) {
    return HeadSegmentedReduce(input, is_head, cub::Sum());
  }
  template <class Flag>
  T TailSegmentedSum(T input, Flag is_tail) {
    return TailSegmentedReduce(input, is_tail, cub::Sum());
  }

 private:
  template <class Flag>
  static unsigned flags(const Warp& warp, Flag flag) {
    return (__ballot_sync(warp.mask, (int)flag) & warp.mask) >> warp.first;
  }
};

}  // namespace cub
