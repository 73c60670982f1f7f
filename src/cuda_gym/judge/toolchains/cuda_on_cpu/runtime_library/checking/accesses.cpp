// Every load and store of the kernels, as the compiler reports it: -fsanitize=thread puts these calls
// in front of them, and nothing else of that sanitizer is used.

#include "../runtime.h"
#include "state.h"

namespace cuda_on_cpu::checking {
namespace {

// Whether two accesses that nothing orders do harm.
bool is_harmless(const Record& earlier, const Access& access, unsigned thread) {
  if (earlier.is_atomic() && access.is_atomic()) return true;
  const bool both_strong = (earlier.is_volatile() || earlier.is_atomic()) &&
                           (access.is_volatile || access.is_atomic());
  // A flag that threads watch is volatile; but lanes of one warp that rely on running in step, as
  // old GPUs had them, are wrong.
  const bool in_step =
      earlier.serial == state.order.serial() && earlier.index() >> 5 == thread >> 5;
  return both_strong && !in_step;
}

bool is_race(const Record& earlier, const Access& access, unsigned thread, const Range& range) {
  if (!earlier.serial) return false;
  if (range.space == Space::shared && earlier.serial != state.order.serial()) return false;
  return !state.order.is_before(earlier, thread) && !is_harmless(earlier, access, thread);
}

void remember_read(Cell* cell, const Record& record) {
  const Record& last = cell->read;
  const bool is_other = last.serial == record.serial && last.epoch == record.epoch &&
                        last.index() != record.index();
  // Two readers of different warps are worth most: whoever writes is in another warp than one of them.
  const bool has_better = cell->other_read.serial == record.serial &&
                          cell->other_read.epoch == record.epoch &&
                          cell->other_read.index() >> 5 != record.index() >> 5 &&
                          last.index() >> 5 == record.index() >> 5;
  if (is_other && !has_better) cell->other_read = last;
  cell->read = record;
}

void check_cell(Cell* cell, const Access& access, const Record& record, const Range& range) {
  const auto races = [&](const Record& earlier) {
    return is_race(earlier, access, record.index(), range);
  };
  if (races(cell->write)) {
    report_race(access, cell->write, true, &range);
  } else if (races(cell->update)) {
    report_race(access, cell->update, true, &range);
  } else if (access.writes() && races(cell->read)) {
    report_race(access, cell->read, false, &range);
  } else if (access.writes() && races(cell->other_read)) {
    report_race(access, cell->other_read, false, &range);
  }
  if (access.act == Act::write) cell->write = record;
  if (access.act == Act::update) cell->update = record;
  if (!access.writes()) remember_read(cell, record);
}

void check_initialised(const Access& access, const Record& record, const Range& range,
                       Range::Cells cells) {
  const bool is_shared = range.space == Space::shared;
  if (!is_shared && range.space != Space::global && range.space != Space::heap) return;
  // Padding inside a structure may be anything: large accesses count where all of it is.
  size_t num_fresh = 0;
  for (size_t i = 0; i < cells.count; ++i) {
    const uint32_t serial = cells.first[i].written_by();
    num_fresh += is_shared ? serial != state.order.serial() : serial < state.order.first_serial();
  }
  if (num_fresh < cells.count) return;
  if (!is_shared && !is_poisoned(access.address, access.bytes, range)) return;
  report(Fault::uninitialised_read, access, &range);
  // Once is enough.
  Record settled = record;
  settled.epoch = 0;
  for (size_t i = 0; i < cells.count; ++i) cells.first[i].write = settled;
}

bool is_ours(uintptr_t address) {
  const auto within = [&](const void* start, size_t bytes) {
    return address - reinterpret_cast<uintptr_t>(start) < bytes;
  };
  const Block* const block = cuda_on_cpu_block;
  const Fiber* const fiber = block->current;
  return within(state.launch->body, state.launch->body_bytes) ||
         within(&::threadIdx, sizeof ::threadIdx) || within(&::blockIdx, sizeof ::blockIdx) ||
         within(&::blockDim, sizeof ::blockDim) || within(&::gridDim, sizeof ::gridDim) ||
         within(&cuda_on_cpu_dynamic_shared, sizeof cuda_on_cpu_dynamic_shared) ||
         within(&cuda_on_cpu_block, sizeof cuda_on_cpu_block) || within(block, sizeof *block) ||
         within(fiber, sizeof *fiber);
}

void check_host(const Access& access) {
  Locked locked;
  const Range* const range = state.memory.find(access.address);
  if (!range || range->space != Space::global || range->is_freed) return;
  if (access.address >= range->start && access.address < range->end) report_host(access, range);
}

void check(const Access& access, unsigned thread) {
  const uintptr_t end = access.address + access.bytes;
  settle_overwrite();
  Range* const range = state.memory.find(access.address);
  if (!range || range->is_freed || access.address < range->start || end > range->end) {
    if (is_ours(access.address)) return;
    stop_at(access, range);
  }
  if (access.is_volatile || access.is_atomic()) {
    state.watched = range->space;
    state.order.exchange(access.address, thread, access.reads(), access.writes());
  }
  const unsigned flags = (access.is_atomic() ? Record::atomic_flag : 0) |
                         (access.is_volatile ? Record::volatile_flag : 0);
  const Record record = state.order.record(thread, place_of(access.pc), (uint16_t)flags);
  const Range::Cells cells = range->cells(access.address, access.bytes);
  if (access.reads()) check_initialised(access, record, *range, cells);
  for (size_t i = 0; i < cells.count; ++i) check_cell(&cells.first[i], access, record, *range);
  if (access.writes() && range->space != Space::shared)
    range->note_written(access.address, access.bytes);
}

}  // namespace

void access(uintptr_t address, size_t bytes, Act act, bool is_volatile, uintptr_t pc) {
  const Fiber* const fiber = cuda_on_cpu_block->current;
  const Access access{address, bytes, act, is_volatile, pc};
  if (!fiber) return check_host(access);
  if (address - reinterpret_cast<uintptr_t>(fiber->stack) < stack_bytes) return;
  state.num_changes += act == Act::write;
  if (state.is_checking)
    check(access, fiber->thread);
  else if (access.writes())
    note_write(address, bytes);
  // A flag that is watched without an atomic operation: others must come to set it.
  static unsigned num_looks;
  if (is_volatile && act == Act::read && (++num_looks & 63) == 0) cuda_on_cpu_yield(false, pc);
}

uint64_t num_changes() { return state.num_changes; }

void count_change() { ++state.num_changes; }

Space watched_space() { return state.watched; }

}  // namespace cuda_on_cpu::checking
