// What the parts of the checking build share: the memory, the order of accesses, the current launch.
#pragma once

#include <mutex>

#include "accesses.h"
#include "findings.h"
#include "memory.h"
#include "order.h"

namespace cuda_on_cpu::checking {

struct State {
  Memory memory;
  Order order;
  uintptr_t code_base = 0;  // where the library that the kernels lie in is loaded
  const Launch* launch = nullptr;
  bool is_checking = false;  // the current block
  uint64_t num_changes = 0;
  Space watched = Space::global;
};
extern State state;

// Held by whoever launches: other host threads wait with what they allocate, free and look at.
struct Locked {
  Locked();
  ~Locked();
};

// One load or store of the current CUDA thread.
struct Access {
  uintptr_t address;
  size_t bytes;
  Act act;
  bool is_volatile;
  uintptr_t pc;

  bool reads() const { return act != Act::write; }
  bool writes() const { return act == Act::write || act == Act::update; }
  bool is_atomic() const { return act == Act::update || act == Act::load_atomically; }
};

// reports.cpp

uint32_t place_of(uintptr_t pc);
uint64_t block_of(uint32_t serial);
void report(Fault fault, const Access& access, const Range* range);
void report_race(const Access& access, const Record& earlier, bool was_write, const Range* range);
void report_host(const Access& access, const Range* range);
[[noreturn]] void stop_at(const Access& access, const Range* range);
// Two unordered writes of the same value do no harm: whether they do is known after the second one.
void settle_overwrite();

}  // namespace cuda_on_cpu::checking
