// cub::BlockStore: consecutive items of each thread, or striped ones by the striped algorithm.
#pragma once
#include "../../cuda_on_cpu/collectives.h"

namespace cub {

// All of the others take the same arrangement, and differ in speed on a GPU only.
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD,
          BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockStore {
 public:
  struct TempStorage {};

  BlockStore() {}
  BlockStore(TempStorage&) {}

  template <class Iterator>
  void Store(Iterator to, T (&items)[ITEMS_PER_THREAD]) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) to[place(i)] = items[i];
  }
  template <class Iterator>
  void Store(Iterator to, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i)
      if (place(i) < valid_items) to[place(i)] = items[i];
  }

 private:
  static int place(int item) {
    return cuda_on_cpu::place_of_item<BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, ITEMS_PER_THREAD>(
        item, ALGORITHM == BLOCK_STORE_STRIPED);
  }
};

}  // namespace cub
