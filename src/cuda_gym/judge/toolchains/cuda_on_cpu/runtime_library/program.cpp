// Whole programs: what the environment asks of the runtime before `main` begins.

#include <cstdlib>

extern "C" int cuda_on_cpu_install_fault_handler(int descriptor);

namespace {

__attribute__((constructor)) void prepare_program() {
  if (const char* const descriptor = getenv("CUDA_ON_CPU_FAULTS_TO"))
    cuda_on_cpu_install_fault_handler(atoi(descriptor));
}

}  // namespace
