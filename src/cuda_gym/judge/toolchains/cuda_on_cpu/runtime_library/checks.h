// What the scheduler tells the checking build; nothing at all in the fast one.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "../include/cuda_on_cpu/block.h"
#include "../include/cuda_on_cpu/launch.h"

namespace cuda_on_cpu {

// What can be wrong with a kernel whatever it computes.
enum class Fault {
  data_race, out_of_bounds, uninitialised_read, divergent_barrier, mismatched_mask, deadlock,
  misaligned_access, host_access
};

// Memory that kernels may reach.
enum class Space { global, host_too, heap, shared, variables };

namespace checks {

#if CUDA_ON_CPU_CHECKING

// What fresh memory holds: a NaN in every floating type, and far outside any index.
constexpr uint32_t poison = 0xfff5fff5u;
// Bytes on both sides of dynamic shared memory that nobody may touch; a page, for its alignment.
constexpr size_t margin = 4096;

void begin_launch(const Launch& launch);
void end_launch();
void begin_block(uint64_t number, uint64_t num_blocks);
void end_block();
// The threads that `block->at_barrier` names, and the current one, have all reached a barrier.
void block_met(Block* block);
void lanes_met(unsigned warp, unsigned lanes);
// What is wrong, where these threads of the current block are waiting.
void report_waiting(Fault fault, const char* text, std::initializer_list<unsigned> threads);
void add_memory(const void* start, size_t bytes, Space space, const char* name);
void remove_memory(const void* start);
// The runtime has copied there, or filled it.
void note_write(const void* start, size_t bytes);
// Before the process ends without its destructors.
void write_findings();

#else

constexpr size_t margin = 0;

inline void begin_launch(const Launch&) {}
inline void end_launch() {}
inline void begin_block(uint64_t, uint64_t) {}
inline void end_block() {}
inline void block_met(Block*) {}
inline void lanes_met(unsigned, unsigned) {}
inline void report_waiting(Fault, const char*, std::initializer_list<unsigned>) {}
inline void add_memory(const void*, size_t, Space, const char*) {}
inline void remove_memory(const void*) {}
inline void note_write(const void*, size_t) {}
inline void write_findings() {}

#endif

}  // namespace checks
}  // namespace cuda_on_cpu
