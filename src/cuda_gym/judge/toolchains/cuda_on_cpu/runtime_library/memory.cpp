#include "memory.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "checks.h"

namespace cuda_on_cpu {
namespace {

constexpr size_t alignment = 256;
#if CUDA_ON_CPU_CHECKING
// Between allocations, so that an index that leaves one does not land in the next.
constexpr size_t gap = alignment;
#else
constexpr size_t gap = 0;
#endif

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Locked {
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
};

using Allocations = std::map<uintptr_t, Allocation>;

// Never destroyed: destructors of the program free memory after ours would have run.
Allocations& allocations() {
  static Allocations* const all = new Allocations;
  return *all;
}

size_t bytes_in_use = 0;

Allocations::iterator at_or_before(uintptr_t address) {
  const auto next = allocations().upper_bound(address);
  return next == allocations().begin() ? allocations().end() : std::prev(next);
}

bool holds(const Allocation& allocation, uintptr_t address) {
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(allocation.start);
  return offset < allocation.bytes;
}

size_t memory_limit() {
  size_t limit = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  // A container may have less than its machine.
  if (FILE* const file = fopen("/sys/fs/cgroup/memory.max", "r")) {
    unsigned long long bytes;
    if (fscanf(file, "%llu", &bytes) == 1 && bytes < limit) limit = bytes;
    fclose(file);
  }
  return limit;
}

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device: return "device memory";
    case MemoryKind::managed: return "managed memory";
    default: return "host memory";
  }
}

void tell_checks(const Allocation& allocation) {
#if CUDA_ON_CPU_CHECKING
  if (allocation.kind != MemoryKind::registered) {
    uint32_t* const words = reinterpret_cast<uint32_t*>(allocation.start);
    for (size_t i = 0; i < (allocation.bytes + 3) / 4; ++i) words[i] = checks::poison;
  }
#endif
  const Space space = allocation.kind == MemoryKind::device ? Space::global : Space::host_too;
  checks::add_memory(allocation.start, allocation.bytes, space, name_of(allocation.kind));
}

}  // namespace

size_t total_memory() {
  static const size_t limit = memory_limit();
  return limit;
}

size_t memory_in_use() {
  Locked locked;
  return bytes_in_use;
}

void* allocate(size_t bytes, MemoryKind kind) {
  const size_t room = total_memory();
  {
    Locked locked;
    if (bytes > room || bytes_in_use > room - bytes) return nullptr;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, gap + bytes + alignment)) return nullptr;
  const Allocation allocation{static_cast<char*>(memory) + gap, bytes, kind};
  tell_checks(allocation);
  Locked locked;
  allocations()[reinterpret_cast<uintptr_t>(allocation.start)] = allocation;
  bytes_in_use += bytes;
  return allocation.start;
}

bool release(void* pointer, MemoryKind kind, MemoryKind other_kind) {
  Locked locked;
  const auto place = allocations().find(reinterpret_cast<uintptr_t>(pointer));
  if (place == allocations().end()) return false;
  const Allocation allocation = place->second;
  if (allocation.kind != kind && allocation.kind != other_kind) return false;
  allocations().erase(place);
  checks::remove_memory(pointer);
  if (allocation.kind == MemoryKind::registered) return true;
  bytes_in_use -= allocation.bytes;
  free(allocation.start - gap);
  return true;
}

bool register_memory(void* pointer, size_t bytes) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(pointer);
  const Allocation allocation{static_cast<char*>(pointer), bytes, MemoryKind::registered};
  Locked locked;
  const auto next = allocations().lower_bound(start);
  if (next != allocations().end() && next->first - start < bytes) return false;
  const auto before = at_or_before(start);
  if (before != allocations().end() && holds(before->second, start)) return false;
  tell_checks(allocation);
  allocations()[start] = allocation;
  return true;
}

bool find_allocation(const void* pointer, Allocation* found) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  Locked locked;
  const auto place = at_or_before(address);
  if (place == allocations().end() || !holds(place->second, address)) return false;
  *found = place->second;
  return true;
}

}  // namespace cuda_on_cpu
