// Values of any size between the lanes of a warp, as words that a shuffle can move.
#pragma once

#include "warp.h"

namespace cuda_on_cpu {

// What `lane` brings. All lanes of the mask call this together.
template <class T>
inline T read_lane(unsigned mask, T v, unsigned lane) {
  if constexpr (sizeof(T) <= 8) {
    return __shfl_sync(mask, v, (int)lane);
  } else {
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    memcpy(words, (const void*)&v, sizeof(T));
    for (uint64_t& word : words) word = __shfl_sync(mask, word, (int)lane);
    memcpy((void*)&v, words, sizeof(T));
    return v;
  }
}

}  // namespace cuda_on_cpu
