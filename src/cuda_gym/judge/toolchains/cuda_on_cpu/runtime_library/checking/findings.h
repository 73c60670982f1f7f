// What the checking build has found: one line of JSON each, every place in the code once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../checks.h"

namespace cuda_on_cpu::checking {

// One side of a finding.
struct Party {
  const char* does;  // `reads`, `writes atomically`, `waits at __syncthreads`
  uint32_t place;    // in the code, from the start of its library
  unsigned thread;   // linear index in its block
  uint64_t block;    // linear index in the grid
};

struct Finding {
  Fault fault;
  const char* text;    // what is wrong with which memory, in words
  const Launch* launch;  // null in host code
  const Party* parties;
  unsigned num_parties;
};

constexpr unsigned most_parties = 4;

// Keeps a finding, unless its places were found at fault in the same way before.
void keep(const Finding& finding);

}  // namespace cuda_on_cpu::checking
