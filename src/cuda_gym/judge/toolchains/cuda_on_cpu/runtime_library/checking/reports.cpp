// What is told of a finding: which memory, who, and what is missing.

#include <cstdio>
#include <cstring>

#include "../runtime.h"
#include "state.h"

namespace cuda_on_cpu::checking {
namespace {

// A write that an earlier one is not ordered with, until it is known what it has changed.
struct Overwrite {
  uintptr_t address = 0;
  size_t bytes = 0;
  char before[16];
  Party parties[2];
  const Range* range;
} overwrite;

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

// "`tile` + 132 (shared memory)", or how far an address is from the nearest memory.
void describe(char* text, size_t size, uintptr_t address, const Range* range) {
  if (range && range->is_freed) {
    snprintf(text, size, "memory that was freed, at `%s` + %lld", range->name,
             (long long)(address - range->start));
  } else if (range && address >= range->start && address < range->end) {
    snprintf(text, size, "`%s` + %lld (%s)", range->name, (long long)(address - range->start),
             name_of(range->space));
  } else if (const Range* const near = range ? range : state.memory.nearest(address)) {
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

// "; as elements of 4 bytes: index 100, and 99 is the last", where an access misses its memory so.
void describe_index(char* text, size_t size, uintptr_t address, size_t bytes, const Range* range) {
  text[0] = 0;
  const Range* const near = range ? range : state.memory.nearest(address);
  if (!near || near->is_freed || (near->start <= address && address < near->end)) return;
  const auto offset = (long long)(address - near->start);
  const auto length = (long long)(near->end - near->start);
  const auto element = (long long)bytes;
  if (element == 0 || offset % element || length % element) return;
  snprintf(text, size, "; as elements of %zu bytes: index %lld, and %lld is the last", bytes,
           offset / element, length / element - 1);
}

// What would have put the two sides of a race in order.
const char* what_is_missing(const Party* parties) {
  if (parties[0].block != parties[1].block) return "; blocks of a launch have no order";
  if (parties[0].thread >> 5 != parties[1].thread >> 5) return "; no __syncthreads is between";
  return "; no __syncwarp is between";
}

Party self(const char* does, uintptr_t pc) {
  return {does, place_of(pc), cuda_on_cpu_block->current->thread, block_of(state.order.serial())};
}

void tell(Fault fault, uintptr_t address, size_t bytes, const Range* range, const Party* parties,
          unsigned num_parties) {
  char where[160], index[80], text[320];
  describe(where, sizeof where, address, range);
  describe_index(index, sizeof index, address, bytes, range);
  const char* const more = fault == Fault::data_race ? what_is_missing(parties)
                           : fault == Fault::out_of_bounds ? index : "";
  snprintf(text, sizeof text, "%zu bytes at %s%s", bytes, where, more);
  keep({fault, text, state.launch, parties, num_parties});
}

}  // namespace

uint32_t place_of(uintptr_t pc) { return (uint32_t)(pc - state.code_base); }

uint64_t block_of(uint32_t serial) { return serial - state.order.first_serial(); }

void report(Fault fault, const Access& access, const Range* range) {
  const Party party = self(verb(access.act), access.pc);
  tell(fault, access.address, access.bytes, range, &party, 1);
}

void report_host(const Access& access, const Range* range) {
  const Party party{verb(access.act), place_of(access.pc), 0, 0};
  tell(Fault::host_access, access.address, access.bytes, range, &party, 1);
}

void report_race(const Access& access, const Record& earlier, bool was_write, const Range* range) {
  const Party parties[2] = {
      self(verb(access.act), access.pc),
      {past_verb(earlier, was_write), earlier.place, earlier.index(), block_of(earlier.serial)}};
  const bool is_overwrite = access.act == Act::write && was_write && !earlier.is_atomic();
  if (!is_overwrite || access.bytes > sizeof overwrite.before) {
    tell(Fault::data_race, access.address, access.bytes, range, parties, 2);
    return;
  }
  overwrite.address = access.address;
  overwrite.bytes = access.bytes;
  memcpy(overwrite.before, reinterpret_cast<const void*>(access.address), access.bytes);
  overwrite.parties[0] = parties[0];
  overwrite.parties[1] = parties[1];
  overwrite.range = range;
}

void settle_overwrite() {
  if (!overwrite.address) return;
  const uintptr_t address = overwrite.address;
  overwrite.address = 0;
  if (memcmp(overwrite.before, reinterpret_cast<const void*>(address), overwrite.bytes) == 0) return;
  tell(Fault::data_race, address, overwrite.bytes, overwrite.range, overwrite.parties, 2);
}

void stop_at(const Access& access, const Range* range) {
  report(Fault::out_of_bounds, access, range);
  char where[160], text[240];
  describe(where, sizeof where, access.address, range);
  snprintf(text, sizeof text, "%s %zu bytes at %s", verb(access.act), access.bytes, where);
  abandon_at_access(cuda_on_cpu_block, illegal_address, text);
}

void stop_at_language_fault(Fault fault, const char* text, uintptr_t pc) {
  const Party party = self("accesses", pc);
  keep({fault, text, state.launch, &party, 1});
  const int code = fault == Fault::misaligned_access ? misaligned_address : illegal_address;
  abandon_at_access(cuda_on_cpu_block, code, text);
}

void report_waiting(Fault fault, const char* text, const unsigned* threads, unsigned count) {
  const Block* const block = cuda_on_cpu_block;
  Party parties[most_parties];
  if (count > most_parties) count = most_parties;
  for (unsigned i = 0; i < count; ++i)
    parties[i] = {"waits", place_of(block->place[threads[i]]), threads[i],
                  block_of(state.order.serial())};
  keep({fault, text, state.launch, parties, count});
}

}  // namespace cuda_on_cpu::checking
