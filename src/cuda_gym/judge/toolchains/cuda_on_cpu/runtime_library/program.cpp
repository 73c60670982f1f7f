// Whole programs: what the environment asks of the runtime before `main` begins, and what is known of
// their memory that is not known of a library's.

#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "runtime.h"

extern "C" int cuda_on_cpu_install_fault_handler(int descriptor);
extern "C" void cuda_on_cpu_answer_quit(int descriptor);

namespace cuda_on_cpu {
namespace {

bool has_been_told = false;
int descriptor_of_words = 2;

// What a block that does not end is doing.
int describe(const Block& block, char* line, size_t size) {
  const Index index = block.index;
  int length = snprintf(line, size, "kernel %s, block (%u,%u,%u) has not ended", block.launch->kernel,
                        index.x, index.y, index.z);
  const Fiber* const current = block.current;
  if (!current)
    return length + snprintf(line + length, size - length,
                             "; its threads run one after another, since none waits at a barrier\n");
  unsigned at_barrier = 0, at_warp_operation = 0;
  for (unsigned warp = 0; warp < block.num_warps; ++warp) {
    at_barrier += __builtin_popcount(block.at_barrier[warp]);
    at_warp_operation += __builtin_popcount(block.arrived[warp]);
  }
  return length + snprintf(line + length, size - length,
                           ": of %u threads %u have returned, %u wait at __syncthreads and %u at a "
                           "warp operation, while thread (%u,%u,%u) goes on; a thread that waits for "
                           "another one lets it run by an atomic operation or by __nanosleep\n",
                           block.num_threads, block.num_finished, at_barrier, at_warp_operation,
                           current->index.x, current->index.y, current->index.z);
}

// At the deadline, before the process is killed.
void say_last_words(int) {
  char line[600];
  const Block* const block = running_block();
  const int length = block ? describe(*block, line, sizeof line)
                           : snprintf(line, sizeof line, "no kernel was running\n");
  checks::write_findings();
  // Nobody is left to tell where this fails.
  (void)!write(descriptor_of_words, line, (size_t)length < sizeof line ? length : sizeof line - 1);
  _exit(124);
}


__attribute__((constructor)) void prepare_program() {
  const char* const descriptor = getenv("CUDA_ON_CPU_FAULTS_TO");
  has_been_told = descriptor != nullptr;
  if (!has_been_told) return;
  // What was printed before a fault or the deadline must not be lost in a buffer.
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  cuda_on_cpu_answer_quit(atoi(descriptor));
  cuda_on_cpu_install_fault_handler(descriptor_of_words);
}

int holds(dl_phdr_info* library, size_t, void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& header = library->dlpi_phdr[i];
    const uintptr_t start = library->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && place - start < header.p_memsz) return 1;
  }
  return 0;
}

}  // namespace

bool is_program() { return has_been_told; }

bool is_of_host_only(const void* address) {
  // Device variables lie among the others of the program.
  return is_program() && !dl_iterate_phdr(holds, const_cast<void*>(address));
}

}  // namespace cuda_on_cpu

// On SIGQUIT write what the current block is doing to a descriptor, and leave with status 124.
extern "C" void cuda_on_cpu_answer_quit(int descriptor) {
  cuda_on_cpu::descriptor_of_words = descriptor;
  signal(SIGQUIT, cuda_on_cpu::say_last_words);
}
