// kernel<<<grid, block, shared_bytes, stream>>>(...): the threads of a block as loops that the
// compiler vectorises, or as fibers where a thread may wait for another one.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "block.h"
#include "phases.h"

typedef struct CUstream_st* cudaStream_t;

namespace cuda_on_cpu {

enum class Mode {
  loop,             // no thread waits
  loop_with_index,  // likewise, and a __device__ function reads threadIdx
  fibers,           // a thread may wait
  phases,           // the kernel itself runs all threads of a block, in loops between its barriers
  rounds = phases,  // likewise, and no thread waits
};

using RunThread = void (*)(const void* body, const Thread*);
using RunBlock = void (*)(const void* body, const Index* block, const Extent* block_size,
                          const Extent* grid_size);

struct Launch {
  const char* kernel;
  Extent grid, block;
  size_t shared_bytes;
  RunThread run_thread;  // null in loop mode
  RunBlock run_block;    // null in fiber mode
  const void* body;
  size_t body_bytes;
};

struct Configuration {
  Extent grid, block;
  size_t shared_bytes;
  Configuration(Extent grid, Extent block, size_t shared_bytes = 0, cudaStream_t = nullptr)
      : grid(grid), block(block), shared_bytes(shared_bytes) {}
};

}  // namespace cuda_on_cpu

extern "C" int cuda_on_cpu_launch(const cuda_on_cpu::Launch*);

namespace cuda_on_cpu {

template <class Body>
__attribute__((flatten)) void run_thread(const void* body, const Thread* thread) {
  (*static_cast<const Body*>(body))(*thread);
}

template <bool with_index, class Body>
__attribute__((flatten)) void run_block(const void* body_address, const Index* block,
                                        const Extent* block_size, const Extent* grid_size) {
  // A copy: the compiler then knows that no store of the kernel changes its arguments.
  const Body body = *static_cast<const Body*>(body_address);
  const Thread first{{0, 0, 0}, *block, *block_size, *grid_size};
  const unsigned size_x = block_size->x, size_y = block_size->y, size_z = block_size->z;
  if (size_x == 0 || size_x > max_threads) __builtin_unreachable();
  for (unsigned z = 0; z < size_z; ++z)
    for (unsigned y = 0; y < size_y; ++y)
      CUDA_ON_CPU_INDEPENDENT
      for (unsigned x = 0; x < size_x; ++x) {
        Thread thread = first;
        thread.thread_index = {x, y, z};
        if (with_index) ::threadIdx = thread.thread_index;
        body(thread);
      }
}

template <class Body>
__attribute__((flatten)) void run_whole_block(const void* body_address, const Index* block,
                                              const Extent* block_size, const Extent* grid_size) {
  const Body body = *static_cast<const Body*>(body_address);
  body(Thread{{0, 0, 0}, *block, *block_size, *grid_size});
}

template <Mode mode, class Kernel, class... Arguments>
inline void launch(const char* kernel, const Configuration& configuration, Kernel call,
                   Arguments... arguments) {
  const auto body = [=](const Thread& thread) __attribute__((always_inline)) {
    call(thread, arguments...);
  };
  using Body = decltype(body);
  Launch launch{kernel,  configuration.grid, configuration.block, configuration.shared_bytes,
                nullptr, nullptr,            &body,              sizeof body};
  if constexpr (mode == Mode::fibers)
    launch.run_thread = run_thread<Body>;
  else if constexpr (mode == Mode::phases)
    launch.run_block = run_whole_block<Body>;
  else
    launch.run_block = run_block<mode == Mode::loop_with_index, Body>;
  cuda_on_cpu_launch(&launch);
}

// Stands where a kernel has its hidden parameter, and is nothing that one takes there.
struct NoThread {};

// For a name that the rewriting does not know: a parameter of a macro or a template, a pointer. A kernel
// with the hidden parameter takes a Thread in the first place and nothing else; whatever is generic
// enough to take anything there has none.
template <Mode mode, class Hidden, class Plain, class... Arguments>
inline void launch_either(const char* kernel, const Configuration& configuration, Hidden hidden,
                          Plain plain, Arguments... arguments) {
  if constexpr (std::is_invocable_v<Hidden, const Thread&, Arguments...> &&
                !std::is_invocable_v<Hidden, const NoThread&, Arguments...>)
    launch<mode>(kernel, configuration, hidden, arguments...);
  else
    launch<mode == Mode::loop ? Mode::loop_with_index : mode>(kernel, configuration, plain,
                                                              arguments...);
}

}  // namespace cuda_on_cpu

// The first words of every kernel. As constant locals its indices cost no memory traffic; the
// impossible ranges (the runtime refuses such launches) tell the vectoriser that
// blockIdx.x * blockDim.x + threadIdx.x never wraps, nor does it with blockIdx.y or blockIdx.z, so
// that neighbours load from neighbours.
#define CUDA_ON_CPU_PROLOGUE                                                                      \
  const ::cuda_on_cpu::Index threadIdx = cuda_on_cpu_thread.thread_index;                         \
  const ::cuda_on_cpu::Index blockIdx = cuda_on_cpu_thread.block_index;                           \
  const ::cuda_on_cpu::Extent blockDim = cuda_on_cpu_thread.block_size;                           \
  const ::cuda_on_cpu::Extent gridDim = cuda_on_cpu_thread.grid_size;                             \
  CUDA_ON_CPU_PROLOGUE_KNOWS
// The same for a kernel that is also a value: its type is the one that is written.
#define CUDA_ON_CPU_PROLOGUE_OF_CURRENT                                                           \
  const ::cuda_on_cpu::Index threadIdx = ::threadIdx;                                             \
  const ::cuda_on_cpu::Index blockIdx = ::blockIdx;                                               \
  const ::cuda_on_cpu::Extent blockDim = ::blockDim;                                              \
  const ::cuda_on_cpu::Extent gridDim = ::gridDim;                                                \
  CUDA_ON_CPU_PROLOGUE_KNOWS
#define CUDA_ON_CPU_PROLOGUE_KNOWS                                                                \
  (void)threadIdx, (void)blockIdx, (void)blockDim, (void)gridDim;                                 \
  if (blockIdx.x * blockDim.x > 0x7fffffffu - 1024 || blockIdx.y * blockDim.y > 0x7fffffffu - 1024 || \
      blockIdx.y > 65534 || blockIdx.z > 65534 ||                                                 \
      blockDim.x > 1024 || threadIdx.x > 1023 || threadIdx.y > 1023 || threadIdx.z > 63)          \
    __builtin_unreachable();
