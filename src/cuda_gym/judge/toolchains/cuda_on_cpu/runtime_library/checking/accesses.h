// What the callbacks of the instrumented code and of the scheduler call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../checks.h"

namespace cuda_on_cpu::checking {

enum class Act { read, write, update, load_atomically };

// The current CUDA thread, or host code, is about to touch memory.
void access(uintptr_t address, size_t bytes, Act act, bool is_volatile, uintptr_t pc);
// How often memory was written so far; an atomic operation that changes nothing does not count.
uint64_t num_changes();
void count_change();
// Where the last atomic or volatile access went.
Space watched_space();
// The current CUDA thread passes a memory fence.
void fence();
// The compiler's own checks of the language have found something in the current CUDA thread.
[[noreturn]] void stop_at_language_fault(Fault fault, const char* text, uintptr_t pc);

void begin_launch(const Launch& launch);
void end_launch();
void begin_block(bool is_checked);
void end_block();
// All threads of the block, or the lanes of a warp, have reached what orders their accesses.
void block_met(Block* block);
void lanes_met(unsigned warp, unsigned lanes);
void add_memory(uintptr_t start, size_t bytes, Space space, const char* name, size_t margin);
void mark_freed(uintptr_t start);
// Memory that a kernel, not host code, has allocated or frees.
void note_heap(void* memory, size_t bytes);
void forget_heap(void* memory);
// How much of some memory no kernel has written.
size_t unwritten_bytes(uintptr_t start, size_t bytes);
// A kernel that is not checked, or the runtime itself, has written.
void note_write(uintptr_t address, size_t bytes);
void report_waiting(Fault fault, const char* text, const unsigned* threads, unsigned count);

}  // namespace cuda_on_cpu::checking
