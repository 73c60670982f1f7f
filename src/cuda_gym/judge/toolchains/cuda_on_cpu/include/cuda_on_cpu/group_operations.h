// What the threads of a cooperative group do together: partitions, reductions, scans, copies.
#pragma once

#include <type_traits>
#include <utility>

#include "groups.h"

namespace cooperative_groups {

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

// By a predicate; where all agree there is one part.
template <class Group>
inline coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned all = group.lanes_in_warp(), yes = __ballot_sync(all, predicate);
  const unsigned existing = __ballot_sync(all, 1);
  if (yes == 0 || yes == existing) return coalesced_group(existing);
  return coalesced_group(predicate ? yes : existing & ~yes, predicate, 2);
}
// By a label; parts are numbered in the order of their lowest lanes.
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label) {
  if constexpr (std::is_same_v<Label, bool>) {
    return binary_partition(group, label);
  } else {
    const unsigned part = __match_any_sync(group.lanes_in_warp(), label);
    const unsigned leader = __builtin_ctz(part);
    const unsigned leaders = __ballot_sync(group.lanes_in_warp(), leader == cuda_on_cpu::lane());
    return coalesced_group(part, __popc(leaders & ((1u << leader) - 1)), __popc(leaders));
  }
}

template <unsigned Size, class Parent, class T, class Operation>
inline auto reduce(const thread_block_tile<Size, Parent>& tile, T v, Operation&& operation) {
  for (unsigned offset = Size / 2; offset; offset /= 2)
    v = operation(v, tile.shfl_xor(v, offset));
  return v;
}
template <class T, class Operation>
inline auto reduce(const coalesced_group& group, T v, Operation&& operation) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned offset = 16; offset; offset /= 2) {
    if (offset >= size) continue;
    const T other = group.shfl_down(v, offset);
    if (rank < offset && rank + offset < size) v = operation(v, other);
  }
  return group.shfl(v, 0);
}

template <class Group, class T, class Operation>
inline auto inclusive_scan(const Group& group, T v, Operation&& operation) {
  for (unsigned offset = 1; offset < group.size(); offset *= 2) {
    const T other = group.shfl_up(v, offset);
    if (group.thread_rank() >= offset) v = operation(other, v);
  }
  return v;
}
template <class Group, class T>
inline auto inclusive_scan(const Group& group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
template <class Group, class T, class Operation>
inline auto exclusive_scan(const Group& group, T v, Operation&& operation) {
  const T before = group.shfl_up(inclusive_scan(group, v, operation), 1);
  return group.thread_rank() ? before : T();
}
template <class Group, class T>
inline auto exclusive_scan(const Group& group, T v) {
  return exclusive_scan(group, v, plus<T>());
}

template <class Group, class Function, class... Arguments>
inline void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0)
    std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}
// The result of the one call, for all threads of the group.
template <class Group, class Function, class... Arguments>
inline auto invoke_one_broadcast(const Group& group, Function&& function,
                                 Arguments&&... arguments) {
  using Result = std::decay_t<std::invoke_result_t<Function, Arguments...>>;
  Result result{};
  if (group.thread_rank() == 0)
    result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  return group.shfl(result, 0);
}

// Copies are done when the call returns; waiting for them makes them visible to the whole group.
template <class Group, class T, class U>
inline void memcpy_async(const Group& group, T* to, const U* from, size_t bytes) {
  constexpr size_t piece = 16;
  for (size_t at = group.thread_rank() * piece; at < bytes; at += group.num_threads() * piece)
    memcpy((char*)to + at, (const char*)from + at, bytes - at < piece ? bytes - at : piece);
}
// The shapes are numbers of elements: as many as both sides have.
template <class Group, class T>
inline void memcpy_async(const Group& group, T* to, size_t to_count, const T* from,
                         size_t from_count) {
  memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}
template <class Group>
inline void wait(const Group& group) {
  group.sync();
}
template <unsigned stages, class Group>
inline void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
