// Every load and store of the kernels, as the compiler reports it: -fsanitize=thread puts these calls
// in front of them, and nothing else of that sanitizer is used.

#include "accesses.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "../runtime.h"
#include "findings.h"
#include "memory.h"
#include "order.h"

namespace cuda_on_cpu::checking {
namespace {

Memory memory;
Order order;

// Where the kernels' code and variables lie.
struct Code {
  uintptr_t base = 0, first = 0, end = 0;
} code;

// Two unordered writes of the same value do no harm: whether they do is known after the second one.
struct Overwrite {
  uintptr_t address = 0;
  size_t bytes = 0;
  char before[16];
  Party parties[2];
  const Range* range;
} overwrite;

const Launch* current_launch;
bool is_checking = false;
uint64_t changes = 0;
Space watched = Space::global;

// Held by whoever launches: other host threads wait with what they allocate, free and look at.
std::mutex& lock = *new std::mutex;
thread_local bool is_launching = false;

struct Locked {
  Locked() {
    if (!is_launching) lock.lock();
  }
  ~Locked() {
    if (!is_launching) lock.unlock();
  }
};

const char* name_of(Space space) {
  switch (space) {
    case Space::shared: return "shared memory";
    case Space::heap: return "from malloc or new";
    case Space::variables: return "device variable";
    default: return "global memory";
  }
}

const char* verb(Act act) {
  switch (act) {
    case Act::read: return "reads";
    case Act::write: return "writes";
    default: return "updates atomically";
  }
}

const char* past_verb(const Record& record, bool is_write) {
  if (record.is_atomic()) return is_write ? "updated it atomically" : "read it atomically";
  return is_write ? "wrote it" : "read it";
}

uint32_t place_of(uintptr_t pc) { return (uint32_t)(pc - code.base); }

uint64_t block_of(uint32_t serial) { return serial - order.first_serial(); }

unsigned current_thread() { return cuda_on_cpu_block->current->thread; }

Party self(const char* does, uintptr_t pc) {
  return {does, place_of(pc), current_thread(), block_of(order.serial())};
}

// "`tile` + 132 (shared memory)", or how far an address is from the nearest memory.
void describe(char* text, size_t size, uintptr_t address, const Range* range) {
  if (range && range->is_freed) {
    snprintf(text, size, "memory that was freed, at `%s` + %lld", range->name,
             (long long)(address - range->start));
  } else if (range && address >= range->start && address < range->end) {
    snprintf(text, size, "`%s` + %lld (%s)", range->name, (long long)(address - range->start),
             name_of(range->space));
  } else if (const Range* const near = range ? range : memory.nearest(address)) {
    const bool is_behind = address >= near->end;
    const uintptr_t distance = is_behind ? address - near->end : near->start - address;
    snprintf(text, size, "%llu bytes %s `%s` (%s, %llu bytes)", (unsigned long long)distance,
             is_behind ? "behind the end of" : "before", near->name, name_of(near->space),
             (unsigned long long)(near->end - near->start));
  } else if (address < 65536) {
    snprintf(text, size, "address 0x%llx, a null pointer", (unsigned long long)address);
  } else {
    snprintf(text, size, "address 0x%llx, which is in no device memory",
             (unsigned long long)address);
  }
}

// What would have put the two sides of a race in order.
const char* what_is_missing(const Party* parties) {
  if (parties[0].block != parties[1].block) return "; blocks of a launch have no order";
  if (parties[0].thread >> 5 != parties[1].thread >> 5) return "; no __syncthreads is between";
  return "; no __syncwarp is between";
}

void report(Fault fault, uintptr_t address, size_t bytes, const Range* range, const Party* parties,
            unsigned num_parties) {
  char where[160], text[240];
  describe(where, sizeof where, address, range);
  const char* const order = fault == Fault::data_race ? what_is_missing(parties) : "";
  snprintf(text, sizeof text, "%zu bytes at %s%s", bytes, where, order);
  keep({fault, text, current_launch, parties, num_parties});
}

void report_race(const Record& earlier, bool was_write, Act act, uintptr_t address, size_t bytes,
                 const Range* range, uintptr_t pc) {
  const Party parties[2] = {
      self(verb(act), pc),
      {past_verb(earlier, was_write), earlier.place, earlier.index(), block_of(earlier.serial)}};
  const bool is_overwrite = act == Act::write && was_write && !earlier.is_atomic();
  if (!is_overwrite || bytes > sizeof overwrite.before) {
    report(Fault::data_race, address, bytes, range, parties, 2);
    return;
  }
  overwrite.address = address;
  overwrite.bytes = bytes;
  memcpy(overwrite.before, reinterpret_cast<const void*>(address), bytes);
  overwrite.parties[0] = parties[0];
  overwrite.parties[1] = parties[1];
  overwrite.range = range;
}

void settle_overwrite() {
  if (!overwrite.address) return;
  const uintptr_t address = overwrite.address;
  overwrite.address = 0;
  if (memcmp(overwrite.before, reinterpret_cast<const void*>(address), overwrite.bytes) == 0) return;
  report(Fault::data_race, address, overwrite.bytes, overwrite.range, overwrite.parties, 2);
}

// Whether two accesses that nothing orders do harm.
bool is_harmless(const Record& earlier, Act act, bool is_volatile, unsigned thread) {
  if (earlier.is_atomic() && (act == Act::update || act == Act::load_atomically)) return true;
  const bool both_strong = (earlier.is_volatile() || earlier.is_atomic()) &&
                           (is_volatile || act == Act::update || act == Act::load_atomically);
  // A flag that threads watch is volatile; but lanes of one warp that rely on running in step, as
  // old GPUs had them, are wrong.
  const bool in_step =
      earlier.serial == order.serial() && earlier.index() >> 5 == thread >> 5;
  return both_strong && !in_step;
}

bool races(const Record& earlier, unsigned thread, Act act, bool is_volatile, const Range& range) {
  if (!earlier.serial) return false;
  if (range.space == Space::shared && earlier.serial != order.serial()) return false;
  return !order.is_before(earlier, thread) && !is_harmless(earlier, act, is_volatile, thread);
}

bool reads(Act act) { return act != Act::write; }
bool writes(Act act) { return act == Act::write || act == Act::update; }

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

void check_cell(Cell* cell, const Record& record, Act act, bool is_volatile, uintptr_t address,
                size_t bytes, const Range& range, uintptr_t pc) {
  const unsigned thread = record.index();
  const auto is_race = [&](const Record& earlier) {
    return races(earlier, thread, act, is_volatile, range);
  };
  if (is_race(cell->write)) {
    report_race(cell->write, true, act, address, bytes, &range, pc);
  } else if (is_race(cell->update)) {
    report_race(cell->update, true, act, address, bytes, &range, pc);
  } else if (writes(act) && is_race(cell->read)) {
    report_race(cell->read, false, act, address, bytes, &range, pc);
  } else if (writes(act) && is_race(cell->other_read)) {
    report_race(cell->other_read, false, act, address, bytes, &range, pc);
  }
  if (act == Act::write) cell->write = record;
  if (act == Act::update) cell->update = record;
  if (act == Act::read || act == Act::load_atomically) remember_read(cell, record);
}

void check_initialised(const Range& range, Range::Cells cells, const Record& record,
                       uintptr_t address, size_t bytes, uintptr_t pc) {
  const bool is_shared = range.space == Space::shared;
  if (!is_shared && range.space != Space::global && range.space != Space::heap) return;
  // Padding inside a structure may be anything: large accesses count where all of it is.
  size_t num_fresh = 0;
  for (size_t i = 0; i < cells.count; ++i) {
    const uint32_t serial = cells.first[i].written_by();
    num_fresh += is_shared ? serial != order.serial() : serial < order.first_serial();
  }
  if (num_fresh < cells.count) return;
  if (!is_shared && !is_poisoned(address, bytes, range)) return;
  const Party party = self("reads", pc);
  report(Fault::uninitialised_read, address, bytes, &range, &party, 1);
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
  return within(current_launch->body, current_launch->body_bytes) ||
         within(&::threadIdx, sizeof ::threadIdx) || within(&::blockIdx, sizeof ::blockIdx) ||
         within(&::blockDim, sizeof ::blockDim) || within(&::gridDim, sizeof ::gridDim) ||
         within(&cuda_on_cpu_dynamic_shared, sizeof cuda_on_cpu_dynamic_shared) ||
         within(&cuda_on_cpu_block, sizeof cuda_on_cpu_block) || within(block, sizeof *block) ||
         within(fiber, sizeof *fiber);
}

[[noreturn]] void stop_at(Fault fault, uintptr_t address, size_t bytes, const Range* range, Act act,
                          uintptr_t pc) {
  const Party party = self(verb(act), pc);
  report(fault, address, bytes, range, &party, 1);
  char where[160];
  describe(where, sizeof where, address, range);
  char text[240];
  snprintf(text, sizeof text, "%s %zu bytes at %s", verb(act), bytes, where);
  abandon_at_access(cuda_on_cpu_block, illegal_address, text);
}

void check_host(uintptr_t address, size_t bytes, Act act, uintptr_t pc) {
  Locked locked;
  const Range* const range = memory.find(address);
  if (!range || range->space != Space::global || range->is_freed) return;
  if (address < range->start || address >= range->end) return;
  const Party party{verb(act), place_of(pc), 0, 0};
  report(Fault::host_access, address, bytes, range, &party, 1);
}

void find_code(const void* function) {
  Dl_info info;
  if (!dladdr(function, &info)) return;
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  if (base == code.base) return;
  struct Search {
    uintptr_t base, first, end;
  } search{base, ~(uintptr_t)0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* data) {
        Search* const search = static_cast<Search*>(data);
        uintptr_t lowest = ~(uintptr_t)0, first = ~(uintptr_t)0, end = 0;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& header = library->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) continue;
          const uintptr_t start = library->dlpi_addr + header.p_vaddr;
          if (start < lowest) lowest = start;
          if (start < first) first = start;
          if (start + header.p_memsz > end) end = start + header.p_memsz;
        }
        if ((lowest & ~(uintptr_t)4095) != search->base) return 0;
        search->first = first;
        search->end = end;
        return 1;
      },
      &search);
  code = {base, search.first, search.end};
  memory.set_variables(search.first, search.end);
}

}  // namespace

void begin_launch(const Launch& launch) {
  lock.lock();
  is_launching = true;
  current_launch = &launch;
  find_code(reinterpret_cast<const void*>(launch.run_thread));
  order.begin_launch();
  if (launch.shared_bytes)
    memory.add(reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared), launch.shared_bytes,
               Space::shared, "dynamic shared memory", checks::margin);
}

void end_launch() {
  if (current_launch->shared_bytes)
    memory.remove(reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared));
  memory.end_launch();
  current_launch = nullptr;
  is_launching = false;
  lock.unlock();
}

void begin_block(bool is_checked) {
  is_checking = is_checked;
  order.begin_block();
}

void end_block() { settle_overwrite(); }

void report_waiting(Fault fault, const char* text, const unsigned* threads, unsigned count) {
  const Block* const block = cuda_on_cpu_block;
  Party parties[most_parties];
  if (count > most_parties) count = most_parties;
  for (unsigned i = 0; i < count; ++i)
    parties[i] = {"waits", place_of(block->place[threads[i]]), threads[i],
                  block_of(order.serial())};
  keep({fault, text, current_launch, parties, count});
}

void access(uintptr_t address, size_t bytes, Act act, bool is_volatile, uintptr_t pc) {
  Block* const block = cuda_on_cpu_block;
  if (!block->current) return check_host(address, bytes, act, pc);
  if (address - reinterpret_cast<uintptr_t>(block->current->stack) < stack_bytes) return;
  changes += act == Act::write;
  if (!is_checking) {
    if (writes(act)) note_write(address, bytes);
    return;
  }
  settle_overwrite();
  Range* const range = memory.find(address);
  if (!range || range->is_freed || address < range->start || address + bytes > range->end) {
    if (is_ours(address)) return;
    stop_at(Fault::out_of_bounds, address, bytes, range, act, pc);
  }
  const unsigned thread = block->current->thread;
  const bool is_strong = is_volatile || act == Act::update || act == Act::load_atomically;
  if (is_strong) {
    watched = range->space;
    order.exchange(address, thread, reads(act), writes(act));
  }
  const uint16_t flags = (act == Act::update || act == Act::load_atomically ? Record::atomic_flag : 0) |
                         (is_volatile ? Record::volatile_flag : 0);
  const Record record = order.record(thread, place_of(pc), flags);
  const Range::Cells cells = range->cells(address, bytes);
  if (reads(act)) check_initialised(*range, cells, record, address, bytes, pc);
  for (size_t i = 0; i < cells.count; ++i)
    check_cell(&cells.first[i], record, act, is_volatile, address, bytes, *range, pc);
  if (writes(act) && range->space != Space::shared) range->note_written(address, bytes);
  // A flag that is watched without an atomic operation: others must come to set it.
  static unsigned num_looks;
  if (is_volatile && act == Act::read && (++num_looks & 63) == 0) cuda_on_cpu_yield(false, pc);
}

void stop_at_language_fault(Fault fault, const char* text, uintptr_t pc) {
  const Party party = self("accesses", pc);
  keep({fault, text, current_launch, &party, 1});
  const int code = fault == Fault::misaligned_access ? misaligned_address : illegal_address;
  abandon_at_access(cuda_on_cpu_block, code, text);
}

void block_met(Block* block) {
  // Threads that meet at different barriers; the same one may have several copies in the code, which
  // whoever reads the debug information can tell.
  unsigned self = block->current->thread;
  const bool has_come = !(block->finished[self >> 5] >> (self & 31) & 1);
  for (unsigned warp = 0; !has_come && warp < block->num_warps; ++warp)
    if (block->at_barrier[warp]) self = warp * 32 + __builtin_ctz(block->at_barrier[warp]);
  for (unsigned warp = 0; warp < block->num_warps; ++warp) {
    for (unsigned rest = block->at_barrier[warp]; rest; rest &= rest - 1) {
      const unsigned other = warp * 32 + __builtin_ctz(rest);
      if (block->place[other] == block->place[self]) continue;
      const unsigned threads[2] = {self, other};
      report_waiting(Fault::divergent_barrier, "threads meet at different barriers", threads, 2);
      warp = block->num_warps;
      break;
    }
  }
  settle_overwrite();
  order.block_met();
}

void lanes_met(unsigned warp, unsigned lanes) {
  settle_overwrite();
  order.lanes_met(warp, lanes);
}

void add_memory(uintptr_t start, size_t bytes, Space space, const char* name, size_t margin) {
  Locked locked;
  memory.add(start, bytes, space, name, margin);
}

void mark_freed(uintptr_t start) {
  Locked locked;
  memory.mark_freed(start);
}

void note_heap(void* start, size_t bytes) {
  if (!start || !cuda_on_cpu_block->current) return;
  const size_t num_words = bytes / sizeof poison;
  for (size_t i = 0; i < num_words; ++i) static_cast<uint32_t*>(start)[i] = poison;
  memory.add(reinterpret_cast<uintptr_t>(start), bytes, Space::heap, "memory of the kernel's own");
}

void forget_heap(void* start) {
  if (start && cuda_on_cpu_block->current) memory.mark_freed(reinterpret_cast<uintptr_t>(start));
}

size_t unwritten_bytes(uintptr_t start, size_t bytes) {
  Range* const range = memory.find(start);
  const bool is_known = range && start >= range->start && start + bytes <= range->end;
  return is_known ? range->num_unwritten_bytes(start, bytes) : bytes;
}

void note_write(uintptr_t address, size_t bytes) {
  Range* const range = memory.find(address);
  if (!range || !bytes || range->is_freed || range->space == Space::shared) return;
  if (address >= range->start && address + bytes <= range->end) range->note_written(address, bytes);
}

uint64_t num_changes() { return changes; }

void count_change() { ++changes; }

Space watched_space() { return watched; }

void fence() {
  if (cuda_on_cpu_block->current) order.fence(current_thread());
}

}  // namespace cuda_on_cpu::checking
