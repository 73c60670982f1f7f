// Which of two accesses came first, and whether anything made it so.
//
// Blocks of a launch run one after another on one OS thread, so that every pair of accesses has an
// accidental order. What counts is the order that the program asks for:
//
//   __syncthreads    everything before it comes before everything behind it, for the block
//   __syncwarp       likewise for the lanes in its mask; a shuffle or a vote promises no such thing
//   a fence and an atomic (or volatile) access: whoever then reaches the same address atomically
//                    comes behind what the fencing warp did before; between blocks, its block
//   a launch         comes behind all earlier ones: streams are synchronous here
//
// Covered: races between any two threads that no path of these orders. Not covered: which of several
// orders a scope (_block, _system) would lose; what a thread does between its fence and its atomic
// access counts as done before; after 2^14 - 1 __syncwarps between two __syncthreads lanes count as
// ordered.
#pragma once

#include <cstdint>
#include <vector>

#include "../../include/cuda_on_cpu/block.h"

namespace cuda_on_cpu::checking {

// One access, as memory remembers it.
struct Record {
  uint32_t serial = 0;  // of the block, counted over all launches; 0 is no access
  uint32_t epoch = 0;   // barriers of the block before it
  uint32_t place = 0;   // in the code, from the start of its library
  uint16_t thread = 0;  // linear index in the block, and the flags below
  uint16_t clock = 0;   // own __syncwarps since the last barrier

  static constexpr uint16_t atomic_flag = 0x8000, volatile_flag = 0x4000, index_mask = 0x3ff;
  unsigned index() const { return thread & index_mask; }
  bool is_atomic() const { return thread & atomic_flag; }
  bool is_volatile() const { return thread & volatile_flag; }
};

// A fence and an atomic access behind it, by one warp of one block.
struct HandOver {
  uint32_t serial, epoch;
  unsigned warp;
  size_t num_taken;  // of what its block had taken over by then
};

class Order {
 public:
  void begin_launch() { first_serial_ = serial_ + 1; }
  void begin_block();
  void block_met();
  void lanes_met(unsigned warp, unsigned lanes);

  uint32_t serial() const { return serial_; }
  uint32_t first_serial() const { return first_serial_; }

  // The record of an access that the current thread is making.
  Record record(unsigned thread, uint32_t place, uint16_t flags) const {
    return {serial_, epoch_, place, (uint16_t)(thread | flags), own_clock(thread)};
  }

  // Whether an earlier access comes before whatever `thread` does now.
  bool is_before(const Record& earlier, unsigned thread) const {
    if (earlier.serial < first_serial_) return true;
    if (earlier.serial != serial_) return has_acquired_block(earlier.serial);
    const unsigned other = earlier.index();
    if (other == thread || earlier.epoch != epoch_) return true;
    const unsigned warp = thread >> 5, other_warp = other >> 5;
    if (acquired_[warp][other_warp] > earlier.epoch) return true;
    if (warp != other_warp || warp_epoch_[warp] != epoch_) return false;
    const uint16_t known = clock_[warp][thread & 31][other & 31];
    return known > earlier.clock || earlier.clock == last_clock;
  }

  void fence(unsigned thread) { has_fenced_[thread >> 5] = true; }
  // An atomic or volatile access to an address: it may hand over, and may take over.
  void exchange(uintptr_t address, unsigned thread, bool reads, bool writes);

 private:
  static constexpr uint16_t last_clock = 0x3fff;

  uint16_t own_clock(unsigned thread) const {
    const unsigned warp = thread >> 5, lane = thread & 31;
    return warp_epoch_[warp] == epoch_ ? clock_[warp][lane][lane] : 0;
  }
  void take_over(const std::vector<HandOver>& given, unsigned warp);
  void hand_over(std::vector<HandOver>* given, unsigned warp);
  void acquire_warp(unsigned warp, unsigned other, uint32_t epoch);
  bool has_acquired_block(uint32_t serial) const;

  uint32_t serial_ = 0, first_serial_ = 1, epoch_ = 0;
  // What each lane knows of its warp's __syncwarps, good while `warp_epoch_` is the current one.
  uint32_t warp_epoch_[max_warps] = {};
  uint16_t clock_[max_warps][32][32] = {};
  // acquired_[a][b]: warp a is behind what warp b did up to this epoch, plus one.
  uint32_t acquired_[max_warps][max_warps] = {};
  bool has_fenced_[max_warps] = {};
};

}  // namespace cuda_on_cpu::checking
