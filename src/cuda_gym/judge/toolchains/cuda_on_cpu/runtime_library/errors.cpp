// Errors of launches, and faults of the processor told in the words of CUDA.

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace cuda_on_cpu {
namespace {

pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
std::atomic<int> last_error{0};
std::atomic<int> fatal_error{0};
char message[1024];
char taken_message[1024];

int fault_descriptor = -1;
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t signal_stack_bytes = 64 << 10;

[[noreturn]] void leave_with(const char* line, int length) {
  const int descriptor = fault_descriptor < 0 ? STDERR_FILENO : fault_descriptor;
  checks::write_findings();
  // Nobody is left to tell where this fails.
  (void)!write(descriptor, line, (size_t)length);
  _exit(139);
}

// Whether an address lies just below what is in use of the stack: recursion without end, most of all.
bool is_below_stack(const void* address, const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto top = static_cast<uintptr_t>(registers.gregs[REG_RSP]);
#else
  const auto top = static_cast<uintptr_t>(registers.sp);
#endif
  constexpr uintptr_t above = 4 << 10, below = 256 << 10;
  return reinterpret_cast<uintptr_t>(address) + below - top < above + below;
}

const char* describe(const siginfo_t* info, const Block* block, const void* context, char* text,
                     size_t size) {
  switch (info->si_signo) {
    case SIGFPE: return "whole-number division by zero";
    case SIGILL: return "__trap() or an illegal instruction";
    case SIGABRT: return "abort() or a failed assert()";
  }
  // The processor does not say which address it was: an aligned move of a vector, most of all.
  if (info->si_code == SI_KERNEL) return "misaligned address, or one that cannot exist,";
  if (block->launch && is_stack_overflow(block->current, info->si_addr))
    snprintf(text, size, "the local variables of a thread take more than %zu KiB",
             stack_bytes >> 10);
  else if (is_below_stack(info->si_addr, context))
    return "no stack is left: recursion without end, or local variables that are too large,";
  else
    snprintf(text, size, "illegal address 0x%llx",
             (unsigned long long)reinterpret_cast<uintptr_t>(info->si_addr));
  return text;
}

// One line is enough: threads that fault later wait for the end of the process.
void be_the_first_to_report() {
  static std::atomic_flag is_taken = ATOMIC_FLAG_INIT;
  while (is_taken.test_and_set()) pause();
}

void on_fault(int, siginfo_t* info, void* context) {
  be_the_first_to_report();
  char what[128], line[512];
  const Block* const block = cuda_on_cpu_block;
  const char* const fact = describe(info, block, context, what, sizeof what);
  int length;
  if (!block->launch) {
    length = snprintf(line, sizeof line, "%s outside any kernel\n", fact);
  } else {
    length = snprintf(line, sizeof line, "%s in kernel %s, block (%u,%u,%u)", fact,
                      block->launch->kernel, block->index.x, block->index.y, block->index.z);
    // Vectorised threads run several at a time: no single one is to blame.
    if (block->current)
      length += snprintf(line + length, sizeof line - length, ", thread (%u,%u,%u)",
                         block->current->index.x, block->current->index.y,
                         block->current->index.z);
    length += snprintf(line + length, sizeof line - length, "\n");
  }
  if (length >= (int)sizeof line) length = sizeof line - 1;
  leave_with(line, length);
}

}  // namespace

// A kernel that has failed while it ran leaves a GPU's memory in doubt: from then on every call fails
// likewise. A launch or a call that is refused is told once. Whoever loads a library of kernels takes
// the error himself and decides what it means.
bool is_fatal(int code) {
  if (!is_program()) return false;
  switch (code) {
    case assert_failed:
    case illegal_address:
    case misaligned_address:
    case launch_failure: return true;
    default: return false;
  }
}

void set_error(int code, const char* format, ...) {
  pthread_mutex_lock(&error_lock);
  last_error = code;
  const bool is_new = is_fatal(code) && !fatal_error;
  if (is_new) fatal_error = code;
  if (!message[0]) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    // A program learns no more than the number of an error.
    if (is_new) dprintf(fault_descriptor < 0 ? STDERR_FILENO : fault_descriptor, "%s\n", message);
  }
  pthread_mutex_unlock(&error_lock);
}

int sticky_error() { return fatal_error; }

cudaError_t failed(cudaError_t error) {
  last_error = error;
  return error;
}

void forget_errors() { last_error = fatal_error = 0; }

void prepare_thread_for_faults() {
  if (fault_descriptor < 0) return;
  void* const memory = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

extern "C" {

int cuda_on_cpu_last_error(int clear) {
  if (const int sticky = sticky_error()) return sticky;
  return clear ? last_error.exchange(0) : last_error.load();
}

// The message of the first launch that failed, whether or not the submission has read the error;
// null where none did. Valid until the next call.
const char* cuda_on_cpu_take_error(void) {
  pthread_mutex_lock(&error_lock);
  memcpy(taken_message, message, sizeof message);
  message[0] = 0;
  forget_errors();
  pthread_mutex_unlock(&error_lock);
  return taken_message[0] ? taken_message : nullptr;
}

double cuda_on_cpu_now_ms(void) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

int cuda_on_cpu_install_fault_handler(int descriptor) {
  fault_descriptor = descriptor;
  prepare_thread_for_faults();
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : fault_signals)
    if (sigaction(signal, &action, nullptr)) return -1;
  return 0;
}

// A barrier in a kernel in which none was seen: the results would be wrong, so that nothing may go on.
void cuda_on_cpu_wait_in_loop(const char* what) {
  const Block* const block = cuda_on_cpu_block;
  const char* const kernel = block->launch ? block->launch->kernel : "?";
  char line[400];
  const int length = snprintf(
      line, sizeof line,
      "kernel %s reaches %s in a way that its source does not show; write the call into a function "
      "that the kernel names\n",
      kernel, what);
  leave_with(line, length < (int)sizeof line ? length : (int)sizeof line - 1);
}

void cuda_on_cpu_trap(void) { __builtin_trap(); }

}  // extern "C"
