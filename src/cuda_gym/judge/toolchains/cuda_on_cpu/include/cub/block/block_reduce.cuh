// cub::BlockReduce: the result is for thread 0; other threads get their own part.
#pragma once
#include "../../cuda_on_cpu/collectives.h"

namespace cub {

// The algorithm changes nothing but the order of additions on a GPU, and nothing at all here.
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

template <class T, int BLOCK_DIM_X,
          BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockReduce {
  static constexpr int num_threads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  using TempStorage = cuda_on_cpu::Uninitialized<T, num_threads>;

  BlockReduce() : storage_(cuda_on_cpu::private_storage<TempStorage>()) {}
  BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Operation>
  T Reduce(T input, Operation operation, int num_valid) {
    const int thread = (int)cuda_on_cpu::thread_rank();
    if (thread < num_valid) storage_[thread] = input;
    __syncthreads();
    if (thread == 0)
      for (int i = 1; i < num_valid; ++i) input = operation(input, storage_[i]);
    return input;
  }
  template <class Operation>
  T Reduce(T input, Operation operation) {
    return Reduce(input, operation, num_threads);
  }
  template <int ITEMS_PER_THREAD, class Operation>
  T Reduce(T (&inputs)[ITEMS_PER_THREAD], Operation operation) {
    return Reduce(cuda_on_cpu::fold(inputs, operation), operation);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int num_valid) { return Reduce(input, cub::Sum(), num_valid); }
  template <int ITEMS_PER_THREAD>
  T Sum(T (&inputs)[ITEMS_PER_THREAD]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
