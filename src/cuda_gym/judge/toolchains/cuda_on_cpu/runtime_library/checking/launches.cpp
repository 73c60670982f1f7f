// What happens around the accesses: launches, blocks, barriers, and the memory that comes and goes.

#include <dlfcn.h>
#include <link.h>

#include "state.h"

namespace cuda_on_cpu::checking {

State state;

namespace {

std::mutex& lock = *new std::mutex;
thread_local bool is_launching = false;

// From the first to the last byte that a library is loaded to.
struct Extents {
  uintptr_t base, first, end;
};

int find_extents(dl_phdr_info* library, size_t, void* data) {
  constexpr uintptr_t page_mask = ~(uintptr_t)4095;
  Extents* const extents = static_cast<Extents*>(data);
  uintptr_t first = ~(uintptr_t)0, end = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& header = library->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t start = library->dlpi_addr + header.p_vaddr;
    if (start < first) first = start;
    if (start + header.p_memsz > end) end = start + header.p_memsz;
  }
  if ((first & page_mask) != extents->base) return 0;
  extents->first = first;
  extents->end = end;
  return 1;
}

// Kernels of another library than those of the launch before: other code, other variables.
void enter_library_of(const void* function) {
  Dl_info info;
  if (!dladdr(function, &info)) return;
  Extents extents{reinterpret_cast<uintptr_t>(info.dli_fbase), 0, 0};
  if (extents.base == state.code_base) return;
  dl_iterate_phdr(find_extents, &extents);
  state.code_base = extents.base;
  state.memory.set_variables(extents.first, extents.end);
}

uintptr_t dynamic_shared() { return reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared); }

}  // namespace

Locked::Locked() {
  if (!is_launching) lock.lock();
}
Locked::~Locked() {
  if (!is_launching) lock.unlock();
}

void begin_launch(const Launch& launch) {
  lock.lock();
  is_launching = true;
  state.launch = &launch;
  enter_library_of(reinterpret_cast<const void*>(launch.run_thread));
  state.order.begin_launch();
  if (launch.shared_bytes)
    state.memory.add(dynamic_shared(), launch.shared_bytes, Space::shared, "dynamic shared memory",
                     checks::margin);
}

void end_launch() {
  if (state.launch->shared_bytes) state.memory.remove(dynamic_shared());
  state.memory.end_launch();
  state.launch = nullptr;
  is_launching = false;
  lock.unlock();
}

void begin_block(bool is_checked) {
  state.is_checking = is_checked;
  state.order.begin_block();
}

void end_block() { settle_overwrite(); }

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
  state.order.block_met();
}

void lanes_met(unsigned warp, unsigned lanes) {
  settle_overwrite();
  state.order.lanes_met(warp, lanes);
}

void add_memory(uintptr_t start, size_t bytes, Space space, const char* name, size_t margin) {
  Locked locked;
  state.memory.add(start, bytes, space, name, margin);
}

void mark_freed(uintptr_t start) {
  Locked locked;
  state.memory.mark_freed(start);
}

void note_heap(void* start, size_t bytes) {
  if (!start || !cuda_on_cpu_block->current) return;
  const size_t num_words = bytes / sizeof checks::poison;
  for (size_t i = 0; i < num_words; ++i) static_cast<uint32_t*>(start)[i] = checks::poison;
  state.memory.add(reinterpret_cast<uintptr_t>(start), bytes, Space::heap, "memory of the kernel's own");
}

void forget_heap(void* start) {
  if (start && cuda_on_cpu_block->current) state.memory.mark_freed(reinterpret_cast<uintptr_t>(start));
}

size_t unwritten_bytes(uintptr_t start, size_t bytes) {
  Locked locked;
  Range* const range = state.memory.find(start);
  const bool is_known = range && start >= range->start && start + bytes <= range->end;
  return is_known ? range->num_unwritten_bytes(start, bytes) : bytes;
}

void note_write(uintptr_t address, size_t bytes) {
  Locked locked;
  Range* const range = state.memory.find(address);
  if (!range || !bytes || range->is_freed || range->space == Space::shared) return;
  if (address >= range->start && address + bytes <= range->end) range->note_written(address, bytes);
}

void fence() {
  if (const Fiber* const fiber = cuda_on_cpu_block->current) state.order.fence(fiber->thread);
}

}  // namespace cuda_on_cpu::checking
