// What CUB's block and warp primitives are made of here.
//
// A block puts its values into shared memory and its first thread goes through them: on a CPU that
// is one pass of plain additions instead of many switches between threads. A warp shuffles, so that
// its primitives need no memory, as on a GPU.
#pragma once

#include <type_traits>

#include "barriers.h"
#include "exchange.h"
#include "operators.h"

namespace cuda_on_cpu {

// Memory for values whose constructors never run: what a TempStorage is made of.
template <class T, int count>
struct Uninitialized {
  alignas(T) unsigned char bytes[sizeof(T) * count];
  T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

template <class T, int count, class Operation>
inline T fold(const T (&items)[count], Operation operation) {
  T sum = items[0];
  for (int i = 1; i < count; ++i) sum = operation(sum, items[i]);
  return sum;
}

// Where an item of the current thread lies in the block's array: its items are neighbours, or the
// threads take turns.
template <int num_threads, int items_per_thread>
CUDA_ON_CPU_INLINE int place_of_item(int item, bool is_striped) {
  const int thread = (int)thread_rank();
  return is_striped ? item * num_threads + thread : thread * items_per_thread + item;
}

// The storage of a primitive that is given none. Each primitive has its own.
template <class Storage>
inline Storage& private_storage() {
  __shared__ Storage storage;
#if CUDA_ON_CPU_CHECKING
  cuda_on_cpu_note_shared(&storage, sizeof storage, 0, "storage of a CUB primitive");
#endif
  return storage;
}

// The lanes of a logical warp of `size` threads, and the place of the current one among them.
template <int size>
struct LogicalWarp {
  static_assert(size >= 1 && size <= 32, "a logical warp has 1 to 32 threads");
  int rank, first;
  unsigned mask;

  LogicalWarp() {
    const int lane = (int)cuda_on_cpu::lane();
    // The lanes left over where `size` is no divisor of 32 make a shorter one.
    rank = lane % size;
    first = lane - rank;
    mask = (unsigned)((1ull << size) - 1) << first;
  }
  template <class T>
  T read(const T& v, int from_rank) const {
    return read_lane(mask, v, (unsigned)(first + from_rank) & 31u);
  }
  // The sum of this rank and those above it up to `last`.
  template <class T, class Operation>
  T fold_up_to(T v, int last, Operation operation) const {
    for (int offset = 1; offset < size; offset *= 2) {
      const T other = read(v, rank + offset < size ? rank + offset : rank);
      if (rank + offset <= last) v = operation(v, other);
    }
    return v;
  }
  template <class T, class Operation>
  T scan(T v, Operation operation) const {
    for (int offset = 1; offset < size; offset *= 2) {
      const T other = read(v, rank >= offset ? rank - offset : rank);
      if (rank >= offset) v = operation(other, v);
    }
    return v;
  }
};

}  // namespace cuda_on_cpu
