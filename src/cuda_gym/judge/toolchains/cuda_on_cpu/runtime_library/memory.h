// Every allocation that a program asks of the CUDA runtime.
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

enum class MemoryKind : int {
  device,
  managed,     // device and host
  host,        // of the runtime, and of the host
  registered,  // the program's own, which it has made known
};

struct Allocation {
  char* start;
  size_t bytes;
  MemoryKind kind;
};

// Null where there is not enough memory; what the device has is the memory of the machine.
void* allocate(size_t bytes, MemoryKind kind);
// False where nothing of one of the two kinds begins there.
bool release(void* pointer, MemoryKind kind, MemoryKind other_kind);
// Makes the program's own memory known; false where some of it already is.
bool register_memory(void* pointer, size_t bytes);
// The allocation that an address lies in; false where there is none.
bool find_allocation(const void* pointer, Allocation* found);
size_t total_memory();
size_t memory_in_use();

}  // namespace cuda_on_cpu
