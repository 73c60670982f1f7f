// What comes of a warp operation when all of its lanes have brought their values.

#include "runtime.h"

namespace cuda_on_cpu {

const char* name_of(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::sync: return "__syncwarp";
    case WarpOperation::shuffle: return "a shuffle";
    case WarpOperation::ballot: return "a vote";
    case WarpOperation::match_any:
    case WarpOperation::match_all: return "a match";
    default: return "a warp reduction";
  }
}

namespace {

unsigned combine(WarpOperation operation, unsigned a, unsigned b) {
  switch (operation) {
    case WarpOperation::add: return a + b;
    case WarpOperation::min: return a < b ? a : b;
    case WarpOperation::max: return a > b ? a : b;
    case WarpOperation::min_signed: return (int)a < (int)b ? a : b;
    case WarpOperation::max_signed: return (int)a > (int)b ? a : b;
    case WarpOperation::bit_and: return a & b;
    case WarpOperation::bit_or: return a | b;
    default: return a ^ b;
  }
}

// Lanes with one mask must ask for the same operation; anything else is undefined in CUDA, and here
// it is an error. With different masks they wait for different lanes.
bool have_agreed(Block* block, unsigned first, unsigned warp, unsigned lanes) {
  const unsigned base = warp * 32, mask = block->mask[first];
  const WarpOperation operation = block->operation[first];
  unsigned other_operation = 0, other_mask = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    other_operation |= (unsigned)(block->operation[base + lane] != operation) << lane;
    other_mask |= (unsigned)(block->mask[base + lane] != mask) << lane;
  }
  if (other_mask & lanes) return false;
  if (other_operation & lanes) {
    const unsigned thread = base + __builtin_ctz(other_operation & lanes);
    abandon(block, Fault::mismatched_mask, {first, thread}, "thread %u is at %s while thread %u of its warp is at %s", first,
            name_of(operation), thread, name_of(block->operation[thread]));
  }
  return true;
}

void complete_shuffle(Block* block, unsigned base, unsigned lanes) {
  if (lanes == 0xffffffffu) {
    for (unsigned lane = 0; lane < 32; ++lane)
      block->result[base + lane] = block->value[base + (block->source_lane[base + lane] & 31)];
    return;
  }
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = __builtin_ctz(rest), source = block->source_lane[base + lane] & 31;
    block->result[base + lane] = block->value[base + (lanes >> source & 1 ? source : lane)];
  }
}

void complete_match_any(Block* block, unsigned base, unsigned lanes) {
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = __builtin_ctz(rest);
    unsigned equal = 0;
    for (unsigned others = lanes; others; others &= others - 1) {
      const unsigned other = __builtin_ctz(others);
      equal |= (unsigned)(block->value[base + other] == block->value[base + lane]) << other;
    }
    block->result[base + lane] = equal;
  }
}

// Votes, match_all and reductions: every lane gets the same.
unsigned common_result(Block* block, WarpOperation operation, unsigned base, unsigned lanes) {
  const unsigned first = __builtin_ctz(lanes);
  unsigned result = 0;
  if (operation == WarpOperation::ballot) {
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
      const unsigned lane = __builtin_ctz(rest);
      result |= (unsigned)block->value[base + lane] << lane;
    }
  } else if (operation == WarpOperation::match_all) {
    result = lanes;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
      if (block->value[base + __builtin_ctz(rest)] != block->value[base + first]) result = 0;
  } else {
    result = (unsigned)block->value[base + first];
    for (unsigned rest = lanes & (lanes - 1); rest; rest &= rest - 1)
      result = combine(operation, result, (unsigned)block->value[base + __builtin_ctz(rest)]);
  }
  return result;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

extern "C" {

bool cuda_on_cpu_complete(Block* block, unsigned warp, unsigned lanes) {
  if (!lanes) return true;
  const unsigned base = warp * 32, first = base + __builtin_ctz(lanes);
  if (!have_agreed(block, first, warp, lanes)) return false;
  const WarpOperation operation = block->operation[first];
  if (operation == WarpOperation::sync) {
    checks::lanes_met(warp, lanes);
  } else if (operation == WarpOperation::shuffle) {
    complete_shuffle(block, base, lanes);
  } else if (operation == WarpOperation::match_any) {
    complete_match_any(block, base, lanes);
  } else {
    const unsigned result = common_result(block, operation, base, lanes);
    for (unsigned rest = lanes; rest; rest &= rest - 1)
      block->result[base + __builtin_ctz(rest)] = result;
  }
  return true;
}

void cuda_on_cpu_mask_without_self(Block* block, unsigned thread, unsigned mask) {
  abandon(block, Fault::mismatched_mask, {thread},
          "thread %u calls a warp operation with mask 0x%08x, which does not name its own lane %u",
          thread, mask, thread & 31);
}

}  // extern "C"
