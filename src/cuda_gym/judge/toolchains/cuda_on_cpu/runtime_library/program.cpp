// Whole programs: what the environment asks of the runtime before `main` begins, and what is known of
// their memory that is not known of a library's.

#include <link.h>

#include <cstdint>
#include <cstdlib>

#include "runtime.h"

extern "C" int cuda_on_cpu_install_fault_handler(int descriptor);

namespace cuda_on_cpu {
namespace {

bool has_been_told = false;

__attribute__((constructor)) void prepare_program() {
  const char* const descriptor = getenv("CUDA_ON_CPU_FAULTS_TO");
  has_been_told = descriptor != nullptr;
  if (has_been_told) cuda_on_cpu_install_fault_handler(atoi(descriptor));
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
