#include "order.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cuda_on_cpu::checking {
namespace {

// What was handed over at one address: in the order of the blocks, and one entry for each warp.
struct Place {
  std::vector<HandOver> given;
};

// The first `count` hand-overs of a place, which a block has taken over.
struct Taken {
  const std::vector<HandOver>* given;
  size_t count;
};

constexpr size_t most_compared = 8;

auto& places = *new std::unordered_map<uintptr_t, Place>;
auto& taken_by_block = *new std::unordered_map<uint32_t, std::vector<Taken>>;

bool reaches(uint32_t from, size_t num_taken, uint32_t serial, std::unordered_set<uint32_t>* seen) {
  const auto found = taken_by_block.find(from);
  if (found == taken_by_block.end()) return false;
  for (size_t i = 0; i < num_taken && i < found->second.size(); ++i) {
    const Taken& taken = found->second[i];
    for (size_t n = taken.count; n-- > 0;) {
      const HandOver& given = (*taken.given)[n];
      if (given.serial == serial) return true;
      if (given.serial == from || !seen->insert(given.serial).second) continue;
      if (reaches(given.serial, given.num_taken, serial, seen)) return true;
    }
  }
  return false;
}

}  // namespace

void Order::begin_block() {
  ++serial_;
  if (serial_ == first_serial_) {
    places.clear();
    taken_by_block.clear();
  }
  epoch_ = 1;
  memset(warp_epoch_, 0, sizeof warp_epoch_);
  memset(acquired_, 0, sizeof acquired_);
  memset(has_fenced_, 0, sizeof has_fenced_);
}

void Order::block_met() {
  ++epoch_;
  // What one warp has taken over or fenced, all have now.
  bool any = false;
  for (const bool has_fenced : has_fenced_) any |= has_fenced;
  if (any) memset(has_fenced_, 1, sizeof has_fenced_);
}

void Order::lanes_met(unsigned warp, unsigned lanes) {
  if (warp_epoch_[warp] != epoch_) {
    memset(clock_[warp], 0, sizeof clock_[warp]);
    warp_epoch_[warp] = epoch_;
  }
  uint16_t joined[32] = {};
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = __builtin_ctz(rest);
    if (clock_[warp][lane][lane] < last_clock) ++clock_[warp][lane][lane];
    for (unsigned i = 0; i < 32; ++i)
      if (clock_[warp][lane][i] > joined[i]) joined[i] = clock_[warp][lane][i];
  }
  for (unsigned rest = lanes; rest; rest &= rest - 1)
    memcpy(clock_[warp][__builtin_ctz(rest)], joined, sizeof joined);
}

void Order::exchange(uintptr_t address, unsigned thread, bool reads, bool writes) {
  const unsigned warp = thread >> 5;
  if (reads && !places.empty()) {
    const auto found = places.find(address);
    if (found != places.end()) take_over(found->second.given, warp);
  }
  if (writes && has_fenced_[warp]) hand_over(&places[address].given, warp);
}

void Order::take_over(const std::vector<HandOver>& given, unsigned warp) {
  size_t num_others = given.size();
  for (; num_others > 0 && given[num_others - 1].serial == serial_; --num_others)
    acquire_warp(warp, given[num_others - 1].warp, given[num_others - 1].epoch);
  if (num_others == 0) return;
  std::vector<Taken>& taken = taken_by_block[serial_];
  for (size_t i = taken.size(); i-- > 0 && i + most_compared >= taken.size();)
    if (taken[i].given == &given && taken[i].count == num_others) return;
  taken.push_back({&given, num_others});
}

void Order::hand_over(std::vector<HandOver>* given, unsigned warp) {
  const auto taken = taken_by_block.find(serial_);
  const HandOver last{serial_, epoch_, warp,
                      taken == taken_by_block.end() ? 0 : taken->second.size()};
  // One entry for a warp of a block: what it did earlier is behind it too.
  for (size_t i = given->size(); i-- > 0 && (*given)[i].serial == serial_;) {
    if ((*given)[i].warp != warp) continue;
    (*given)[i] = last;
    return;
  }
  given->push_back(last);
}

void Order::acquire_warp(unsigned warp, unsigned other, uint32_t epoch) {
  if (acquired_[warp][other] > epoch) return;
  acquired_[warp][other] = epoch + 1;
  for (unsigned i = 0; i < max_warps; ++i)
    if (acquired_[other][i] > acquired_[warp][i]) acquired_[warp][i] = acquired_[other][i];
}

bool Order::has_acquired_block(uint32_t serial) const {
  std::unordered_set<uint32_t> seen{serial_};
  return reaches(serial_, ~(size_t)0, serial, &seen);
}

}  // namespace cuda_on_cpu::checking
