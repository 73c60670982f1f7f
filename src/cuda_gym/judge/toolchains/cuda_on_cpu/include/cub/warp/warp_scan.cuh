// cub::WarpScan. An exclusive scan without an initial value leaves the first lane's output as it is.
#pragma once
#include "../../cuda_on_cpu/collectives.h"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32>
class WarpScan {
  using Warp = cuda_on_cpu::LogicalWarp<LOGICAL_WARP_THREADS>;

 public:
  struct TempStorage {};

  WarpScan(TempStorage&) {}

  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    output = Warp().scan(input, operation);
  }
  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& warp_aggregate) {
    output = Warp().scan(input, operation);
    warp_aggregate = last(output);
  }
  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, cub::Sum()); }
  void InclusiveSum(T input, T& output, T& warp_aggregate) {
    InclusiveScan(input, output, cub::Sum(), warp_aggregate);
  }

  template <class Operation>
  void ExclusiveScan(T input, T& output, Operation operation) {
    T inclusive;
    Scan(input, inclusive, output, operation);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation) {
    T inclusive;
    Scan(input, inclusive, output, initial, operation);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, Operation operation, T& warp_aggregate) {
    T inclusive;
    Scan(input, inclusive, output, operation);
    warp_aggregate = last(inclusive);
  }
  // The aggregate is without the initial value.
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& warp_aggregate) {
    ExclusiveScan(input, output, operation, warp_aggregate);
    output = Warp().rank ? operation(initial, output) : initial;
  }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), cub::Sum()); }
  void ExclusiveSum(T input, T& output, T& warp_aggregate) {
    ExclusiveScan(input, output, T(), cub::Sum(), warp_aggregate);
  }

  template <class Operation>
  void Scan(T input, T& inclusive, T& exclusive, Operation operation) {
    const Warp warp;
    inclusive = warp.scan(input, operation);
    const T before = warp.read(inclusive, warp.rank ? warp.rank - 1 : 0);
    if (warp.rank) exclusive = before;
  }
  template <class Operation>
  void Scan(T input, T& inclusive, T& exclusive, T initial, Operation operation) {
    Scan(input, inclusive, exclusive, operation);
    exclusive = Warp().rank ? operation(initial, exclusive) : initial;
    inclusive = operation(initial, inclusive);
  }
  T Broadcast(T input, unsigned source_lane) { return Warp().read(input, (int)source_lane); }

 private:
  static T last(const T& inclusive) { return Warp().read(inclusive, LOGICAL_WARP_THREADS - 1); }
};

}  // namespace cub
