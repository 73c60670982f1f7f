// What the scheduler, the kernels' code and the Python side call in the checking build.

#include <cstdio>

#include "../../include/cuda_on_cpu/barriers.h"
#include "../../include/cuda_on_cpu/warp.h"
#include "../runtime.h"
#include "accesses.h"

namespace cuda_on_cpu::checks {
namespace {

// Blocks that are checked of a launch; 0 is all of them.
uint64_t most_blocks = 0;
bool is_last_block = false;

// The first and the last ones, where most mistakes are, and some in the middle; neighbours together.
bool is_chosen(uint64_t number, uint64_t num_blocks) {
  if (!most_blocks || num_blocks <= most_blocks) return true;
  const uint64_t quarter = most_blocks / 4;
  if (number < quarter || number >= num_blocks - quarter) return true;
  const uint64_t half = num_blocks / 2;
  return number >= half && number < half + 2 * quarter;
}

// One that waits at a barrier, or else the given one.
unsigned waiting_thread(const Block& block, unsigned otherwise) {
  for (unsigned warp = 0; warp < block.num_warps; ++warp)
    if (block.at_barrier[warp]) return warp * 32 + __builtin_ctz(block.at_barrier[warp]);
  return otherwise;
}

// Where every thread that is left only looks whether something has changed, nothing ever will: blocks
// run one after another.
void require_progress(Block* block, uintptr_t place) {
  constexpr uint64_t most_looks = 1 << 20;
  static uint64_t num_looks, changes_before;
  if (checking::num_changes() != changes_before) {
    changes_before = checking::num_changes();
    num_looks = 0;
  }
  if (++num_looks < most_looks) return;
  num_looks = 0;
  const unsigned thread = block->current->thread;
  block->place[thread] = place;
  if (is_last_block || checking::watched_space() == Space::shared) {
    abandon(block, Fault::deadlock, {thread, waiting_thread(*block, thread)},
            "thread %u waits for a change that no thread of its block makes", thread);
  }
  char text[160];
  snprintf(text, sizeof text, "waits for another block; the checking build runs one after another");
  abandon_at_access(block, launch_timeout, text);
}

}  // namespace

void begin_launch(const Launch& launch) { checking::begin_launch(launch); }
void end_launch() { checking::end_launch(); }
void begin_block(uint64_t number, uint64_t num_blocks) {
  is_last_block = number + 1 == num_blocks;
  checking::begin_block(is_chosen(number, num_blocks));
}
void end_block() { checking::end_block(); }
void block_met(Block* block) { checking::block_met(block); }
void lanes_met(unsigned warp, unsigned lanes) { checking::lanes_met(warp, lanes); }
void report_waiting(Fault fault, const char* text, std::initializer_list<unsigned> threads) {
  checking::report_waiting(fault, text, threads.begin(), (unsigned)threads.size());
}
void add_memory(const void* start, size_t bytes, Space space, const char* name) {
  checking::add_memory(reinterpret_cast<uintptr_t>(start), bytes, space, name, 0);
}
void note_write(const void* start, size_t bytes) {
  checking::note_write(reinterpret_cast<uintptr_t>(start), bytes);
}
void remove_memory(const void* start) {
  checking::mark_freed(reinterpret_cast<uintptr_t>(start));
}

}  // namespace cuda_on_cpu::checks

using namespace cuda_on_cpu;

extern "C" {

int cuda_on_cpu_wait_for_block(Barrier kind, int predicate, uintptr_t place) {
  Block* const block = block_to_wait_in("__syncthreads");
  block->place[block->current->thread] = place;
  return wait_for_block(kind, predicate);
}

uint64_t cuda_on_cpu_meet(WarpOperation operation, unsigned mask, uint64_t value,
                          unsigned source_lane, uintptr_t place) {
  Block* const block = block_to_wait_in("a warp operation");
  const unsigned thread = block->current->thread;
  block->place[thread] = place;
  return meet(block, thread, operation, mask, value, source_lane);
}

unsigned cuda_on_cpu_converge(int site, uintptr_t place) {
  Block* const block = block_to_wait_in("__activemask");
  block->place[block->current->thread] = place;
  return converge(site);
}

unsigned cuda_on_cpu_thread_rank(void) { return thread_rank(); }

void cuda_on_cpu_yield(bool now_and_then, uintptr_t place) {
  Block* const block = cuda_on_cpu_block;
  if (block->current) checks::require_progress(block, place);
  now_and_then ? yield_now_and_then() : yield();
}

bool cuda_on_cpu_note_shared(const void* start, size_t bytes, size_t margin, const char* name) {
  checking::add_memory(reinterpret_cast<uintptr_t>(start), bytes, Space::shared, name, margin);
  return true;
}

bool cuda_on_cpu_note_variable(const void* start, size_t bytes, const char* name) {
  checking::add_memory(reinterpret_cast<uintptr_t>(start), bytes, Space::variables, name, 0);
  return true;
}

// A tensor, or other memory that the caller has made and kernels are given.
void cuda_on_cpu_check_memory(const void* start, size_t bytes, const char* name) {
  checks::add_memory(start, bytes, Space::global, name);
}

// How much no kernel has written.
uint64_t cuda_on_cpu_unwritten_bytes(const void* start, size_t bytes) {
  return checking::unwritten_bytes(reinterpret_cast<uintptr_t>(start), bytes);
}

void cuda_on_cpu_check_blocks(uint64_t most) { checks::most_blocks = most; }

}  // extern "C"
