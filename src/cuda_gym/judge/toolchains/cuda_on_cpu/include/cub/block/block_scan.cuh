// cub::BlockScan. An exclusive scan without an initial value leaves thread 0's output as it is.
#pragma once
#include "../../cuda_on_cpu/collectives.h"

namespace cub {

// The algorithm changes nothing but the order of additions on a GPU, and nothing at all here.
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BLOCK_DIM_X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockScan {
  static constexpr int num_threads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  template <class Callback>
  using IfCallback = std::enable_if_t<std::is_invocable_v<Callback&, T>, int>;

 public:
  // The running sums, and behind them the prefix that a callback has given.
  using TempStorage = cuda_on_cpu::Uninitialized<T, num_threads + 1>;

  BlockScan() : storage_(cuda_on_cpu::private_storage<TempStorage>()) {}
  BlockScan(TempStorage& storage) : storage_(storage) {}

  // One item a thread.
  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    output = running_sum(input, operation);
  }
  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& block_aggregate) {
    output = running_sum(input, operation);
    block_aggregate = storage_[num_threads - 1];
  }
  template <class Operation, class Callback, IfCallback<Callback> = 0>
  void InclusiveScan(T input, T& output, Operation operation, Callback& prefix_callback) {
    const T sum = running_sum(input, operation);
    output = operation(prefix(prefix_callback), sum);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, Operation operation) {
    running_sum(input, operation);
    if (thread()) output = storage_[thread() - 1];
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation) {
    ExclusiveScan(input, output, operation);
    output = thread() ? operation(initial, output) : initial;
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, Operation operation, T& block_aggregate) {
    ExclusiveScan(input, output, operation);
    block_aggregate = storage_[num_threads - 1];
  }
  // The aggregate is without the initial value.
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& block_aggregate) {
    ExclusiveScan(input, output, initial, operation);
    block_aggregate = storage_[num_threads - 1];
  }
  template <class Operation, class Callback, IfCallback<Callback> = 0>
  void ExclusiveScan(T input, T& output, Operation operation, Callback& prefix_callback) {
    ExclusiveScan(input, output, operation);
    const T before = prefix(prefix_callback);
    output = thread() ? operation(before, output) : before;
  }

  // Several consecutive items a thread: their sum is scanned as one item, and goes in front.
  template <int N, class Operation>
  void InclusiveScan(T (&inputs)[N], T (&outputs)[N], Operation operation) {
    T before;
    ExclusiveScan(cuda_on_cpu::fold(inputs, operation), before, operation);
    inclusive_items(inputs, outputs, before, thread() != 0, operation);
  }
  template <int N, class Operation>
  void InclusiveScan(T (&inputs)[N], T (&outputs)[N], Operation operation, T& block_aggregate) {
    InclusiveScan(inputs, outputs, operation);
    block_aggregate = storage_[num_threads - 1];
  }
  template <int N, class Operation, class Callback, IfCallback<Callback> = 0>
  void InclusiveScan(T (&inputs)[N], T (&outputs)[N], Operation operation, Callback& callback) {
    T before;
    ExclusiveScan(cuda_on_cpu::fold(inputs, operation), before, operation, callback);
    inclusive_items(inputs, outputs, before, true, operation);
  }
  template <int N, class Operation>
  void ExclusiveScan(T (&inputs)[N], T (&outputs)[N], T initial, Operation operation) {
    T before;
    ExclusiveScan(cuda_on_cpu::fold(inputs, operation), before, initial, operation);
    exclusive_items(inputs, outputs, before, operation);
  }
  template <int N, class Operation>
  void ExclusiveScan(T (&inputs)[N], T (&outputs)[N], T initial, Operation operation,
                     T& block_aggregate) {
    ExclusiveScan(inputs, outputs, initial, operation);
    block_aggregate = storage_[num_threads - 1];
  }
  template <int N, class Operation, class Callback, IfCallback<Callback> = 0>
  void ExclusiveScan(T (&inputs)[N], T (&outputs)[N], Operation operation, Callback& callback) {
    T before;
    ExclusiveScan(cuda_on_cpu::fold(inputs, operation), before, operation, callback);
    exclusive_items(inputs, outputs, before, operation);
  }

  // Sums: an exclusive one begins with zero.
  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, Sum()); }
  template <class AggregateOrCallback>
  void InclusiveSum(T input, T& output, AggregateOrCallback& more) {
    InclusiveScan(input, output, Sum(), more);
  }
  template <int N>
  void InclusiveSum(T (&inputs)[N], T (&outputs)[N]) {
    InclusiveScan(inputs, outputs, Sum());
  }
  template <int N, class AggregateOrCallback>
  void InclusiveSum(T (&inputs)[N], T (&outputs)[N], AggregateOrCallback& more) {
    InclusiveScan(inputs, outputs, Sum(), more);
  }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), Sum()); }
  void ExclusiveSum(T input, T& output, T& block_aggregate) {
    ExclusiveScan(input, output, T(), Sum(), block_aggregate);
  }
  template <class Callback, IfCallback<Callback> = 0>
  void ExclusiveSum(T input, T& output, Callback& prefix_callback) {
    ExclusiveScan(input, output, Sum(), prefix_callback);
  }
  template <int N>
  void ExclusiveSum(T (&inputs)[N], T (&outputs)[N]) {
    ExclusiveScan(inputs, outputs, T(), Sum());
  }
  template <int N>
  void ExclusiveSum(T (&inputs)[N], T (&outputs)[N], T& block_aggregate) {
    ExclusiveScan(inputs, outputs, T(), Sum(), block_aggregate);
  }
  template <int N, class Callback, IfCallback<Callback> = 0>
  void ExclusiveSum(T (&inputs)[N], T (&outputs)[N], Callback& prefix_callback) {
    ExclusiveScan(inputs, outputs, Sum(), prefix_callback);
  }

 private:
  using Sum = cub::Sum;

  static int thread() { return (int)cuda_on_cpu::thread_rank(); }
  // Leaves every thread's inclusive sum in the storage.
  template <class Operation>
  T running_sum(T input, Operation operation) {
    storage_[thread()] = input;
    __syncthreads();
    if (thread() == 0)
      for (int i = 1; i < num_threads; ++i) storage_[i] = operation(storage_[i - 1], storage_[i]);
    __syncthreads();
    return storage_[thread()];
  }
  // The first warp calls back with the sum of the block; what thread 0 gets is what counts.
  template <class Callback>
  T prefix(Callback& prefix_callback) {
    if (thread() < 32) {
      const T before = prefix_callback(T(storage_[num_threads - 1]));
      if (thread() == 0) storage_[num_threads] = before;
    }
    __syncthreads();
    return storage_[num_threads];
  }
  template <int N, class Operation>
  static void inclusive_items(const T (&inputs)[N], T (&outputs)[N], T sum, bool has_sum,
                              Operation operation) {
    for (int i = 0; i < N; ++i) {
      sum = has_sum ? operation(sum, inputs[i]) : inputs[i];
      has_sum = true;
      outputs[i] = sum;
    }
  }
  template <int N, class Operation>
  static void exclusive_items(const T (&inputs)[N], T (&outputs)[N], T sum, Operation operation) {
    for (int i = 0; i < N; ++i) {
      const T input = inputs[i];  // the outputs may be the inputs
      outputs[i] = sum;
      sum = operation(sum, input);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
