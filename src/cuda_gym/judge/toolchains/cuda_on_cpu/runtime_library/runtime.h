// What the three parts of the runtime library know of each other.
#pragma once

#include <cstdarg>
#include <cstdio>

#include "../include/cuda_on_cpu/block.h"
#include "../include/cuda_on_cpu/error_codes.h"
#include "../include/cuda_on_cpu/fibers.h"
#include "../include/cuda_on_cpu/launch.h"
#include "checks.h"

namespace cuda_on_cpu {

// errors.cpp

constexpr int invalid_value = 1;
constexpr int invalid_configuration = 9;
constexpr int illegal_address = 700;
constexpr int launch_timeout = 702;
constexpr int assert_failed = 710;
constexpr int misaligned_address = 716;
constexpr int launch_failure = 719;

// Keeps the first error until it is read, and the first message until the judge has taken it.
__attribute__((format(printf, 2, 3))) void set_error(int code, const char* format, ...);
// A call that is refused: the program finds the same error again in cudaGetLastError. No message.
cudaError_t failed(cudaError_t error);
// What a kernel that has failed leaves behind for every later call; 0 where none has.
int sticky_error();
void forget_errors();
// Whether this process is a CUDA program, and not somebody who has loaded a library of kernels.
bool is_program();
// Whether an address can only be the host's: a program's heap or stack. A library does not know.
bool is_of_host_only(const void* address);
// Gives the calling thread a stack for the fault handler, if one is installed.
void prepare_thread_for_faults();

// child_launches.cpp

// Keeps a grid that a kernel launches, with a copy of its arguments.
void launch_later(const Launch& launch);
// The one that was launched first; false where there is none.
bool take_child(Launch* child);
void release_child(const Launch& child);

// launch.cpp

// Some block that is being run; null where none is. Takes no lock.
const Block* running_block();
// Ends the current grid, in which no thread has a stack of its own, and never returns.
[[noreturn]] void leave_loops();

// limits.cpp

// Whether a GPU would run it; the error is set where not.
bool is_within_limits(const Launch& launch);

// warp_operations.cpp

const char* name_of(WarpOperation operation);

// fibers.cpp

constexpr size_t stack_bytes = 128 << 10;

// Runs every thread of the block that `block` has been set to; false where it was abandoned.
bool run_as_fibers(Block* block);
// Whether the address lies in the guard page below a fiber's stack.
bool is_stack_overflow(const Fiber* fiber, const void* address);
// Records an error in the current kernel and never returns to the current thread. What the text tells
// of, these threads of the block are waiting for.
[[noreturn]] __attribute__((format(printf, 4, 5))) void abandon(
    Block* block, Fault fault, std::initializer_list<unsigned> threads, const char* format, ...);
// The same for what the current thread itself has done.
[[noreturn]] void abandon_at_access(Block* block, int code, const char* text);

}  // namespace cuda_on_cpu
