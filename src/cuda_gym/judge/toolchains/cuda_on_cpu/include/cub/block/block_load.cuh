// cub::BlockLoad: consecutive items for each thread, or striped ones by the striped algorithm.
#pragma once
#include "../../cuda_on_cpu/collectives.h"

namespace cub {

// All of the others give the same arrangement, and differ in speed on a GPU only.
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD,
          BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockLoad {
 public:
  struct TempStorage {};

  BlockLoad() {}
  BlockLoad(TempStorage&) {}

  template <class Iterator>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD]) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) items[i] = from[place(i)];
  }
  template <class Iterator>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i)
      if (place(i) < valid_items) items[i] = from[place(i)];
  }
  template <class Iterator, class Default>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], int valid_items, Default otherwise) {
    for (T& item : items) item = otherwise;
    Load(from, items, valid_items);
  }

 private:
  static int place(int item) {
    return cuda_on_cpu::place_of_item<BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, ITEMS_PER_THREAD>(
        item, ALGORITHM == BLOCK_LOAD_STRIPED);
  }
};

}  // namespace cub
