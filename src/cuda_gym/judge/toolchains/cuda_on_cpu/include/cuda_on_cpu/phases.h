// Kernels cut at their barriers: what stands between two of them, a phase, is a loop over the
// threads of the block. The rewriting (fission.py) decides where phases begin and end, and which
// variables are kept from one to the next.
#pragma once

#include <type_traits>

#include "block.h"

// The first words of such a kernel, which runs once a block. Where a whole value is asked of
// threadIdx outside of a phase, it is that of the first thread.
#define CUDA_ON_CPU_PHASES                                                                        \
  constexpr ::cuda_on_cpu::Index threadIdx{0, 0, 0};                                              \
  const ::cuda_on_cpu::Index blockIdx = cuda_on_cpu_thread.block_index;                           \
  const ::cuda_on_cpu::Extent blockDim = cuda_on_cpu_thread.block_size;                           \
  const ::cuda_on_cpu::Extent gridDim = cuda_on_cpu_thread.grid_size;                             \
  const unsigned cuda_on_cpu_count = blockDim.x * blockDim.y * blockDim.z;                        \
  (void)threadIdx, (void)blockIdx, (void)blockDim, (void)gridDim, (void)cuda_on_cpu_count;        \
  if (blockIdx.x * blockDim.x > 0x7fffffffu - 1024 || blockIdx.y * blockDim.y > 0x7fffffffu - 1024 || \
      blockDim.x > 1024 || blockDim.x == 0 || cuda_on_cpu_count > 1024)                           \
    __builtin_unreachable();

#define CUDA_ON_CPU_PHASE                                                                         \
  for (unsigned cuda_on_cpu_z = 0, cuda_on_cpu_first = 0; cuda_on_cpu_z < blockDim.z;             \
       ++cuda_on_cpu_z)                                                                           \
    for (unsigned cuda_on_cpu_y = 0; cuda_on_cpu_y < blockDim.y;                                  \
         ++cuda_on_cpu_y, cuda_on_cpu_first += blockDim.x)                                        \
      CUDA_ON_CPU_INDEPENDENT                                                                     \
      for (unsigned cuda_on_cpu_x = 0; cuda_on_cpu_x < blockDim.x; ++cuda_on_cpu_x)

#define CUDA_ON_CPU_SELF                                                                          \
  const ::cuda_on_cpu::Index threadIdx{cuda_on_cpu_x, cuda_on_cpu_y, cuda_on_cpu_z};              \
  const unsigned cuda_on_cpu_self = cuda_on_cpu_first + cuda_on_cpu_x;                            \
  (void)threadIdx, (void)cuda_on_cpu_self;                                                        \
  if (threadIdx.x > 1023 || threadIdx.y > 1023 || threadIdx.z > 63 || cuda_on_cpu_self > 1023)    \
    __builtin_unreachable();

// Likewise, where a function other than the kernel reads threadIdx.
#define CUDA_ON_CPU_SELF_FOR_OTHERS \
  CUDA_ON_CPU_SELF                  \
  ::threadIdx = threadIdx;

// One variable of every thread. What has a constructor or takes much room is left to fibers: the
// compiler then stops here, and the kernel is built without phases. The whole is not poisoned, as what a
// thread leaves unwritten is by itself.
#define CUDA_ON_CPU_KEEP(name, dimensions, ...)                                                   \
  __VA_ARGS__ name[::cuda_on_cpu::max_threads] dimensions __attribute__((uninitialized));      \
  static_assert(std::is_trivially_copyable<std::remove_all_extents_t<decltype(name)>>::value &&   \
                    std::is_trivially_default_constructible<                                      \
                        std::remove_all_extents_t<decltype(name)>>::value &&                      \
                    sizeof(name) <= (512u << 10),                                                 \
                "cuda_on_cpu: a variable that cannot be kept");

// What the threads of a block bring to a warp operation.
#define CUDA_ON_CPU_BROUGHT(name) \
  alignas(64) char name[::cuda_on_cpu::max_threads * 8] __attribute__((uninitialized));

extern "C" void cuda_on_cpu_lanes_missing(void);

namespace cuda_on_cpu {

// Poison for variables that cross phases and were given no value, as they lose what the compiler knows of
// that: no number in every floating type, far outside any index.
CUDA_ON_CPU_INLINE void leave_unwritten(void* start, size_t bytes) {
  constexpr unsigned poison[2] = {0xfff5fff5u, 0xfff5fff5u};
  char* place = (char*)start;
  for (; bytes >= sizeof poison; bytes -= sizeof poison, place += sizeof poison)
    __builtin_memcpy(place, poison, sizeof poison);
  __builtin_memcpy(place, poison, bytes);
}

template <class T>
CUDA_ON_CPU_INLINE T unwritten() {
  T value;
  leave_unwritten((void*)&value, sizeof value);
  return value;
}

template <class T>
T by_value(T);

template <class T>
CUDA_ON_CPU_INLINE T brought(const char* place, unsigned thread) {
  T value;
  __builtin_memcpy((void*)&value, place + thread * sizeof(T), sizeof(T));
  return value;
}

template <class T>
CUDA_ON_CPU_INLINE void bring(char* place, unsigned thread, T value) {
  static_assert(sizeof(T) <= 8, "a warp operation moves at most 8 bytes");
  __builtin_memcpy(place + thread * sizeof(T), (const void*)&value, sizeof(T));
}

// The value of another lane, or the own one where that lane does not exist.
template <class T>
CUDA_ON_CPU_INLINE T of_lane(const char* place, unsigned thread, unsigned count, unsigned lane) {
  const unsigned source = (thread & ~31u) + (lane & 31u);
  return brought<T>(place, source < count ? source : thread);
}

template <class T>
CUDA_ON_CPU_INLINE T phase_shfl_sync(const char* place, unsigned thread, unsigned count, int source,
                                     int width = 32) {
  const int lane = thread & 31;
  return of_lane<T>(place, thread, count, (lane & ~(width - 1)) + (source & (width - 1)));
}
template <class T>
CUDA_ON_CPU_INLINE T phase_shfl_xor_sync(const char* place, unsigned thread, unsigned count,
                                         int lane_mask, int width = 32) {
  const int lane = thread & 31, source = lane ^ lane_mask;
  return of_lane<T>(place, thread, count, source < (lane & ~(width - 1)) + width ? source : lane);
}
template <class T>
CUDA_ON_CPU_INLINE T phase_shfl_down_sync(const char* place, unsigned thread, unsigned count,
                                          unsigned delta, int width = 32) {
  const int lane = thread & 31;
  return of_lane<T>(place, thread, count,
                    (lane & (width - 1)) + (int)delta < width ? lane + (int)delta : lane);
}
template <class T>
CUDA_ON_CPU_INLINE T phase_shfl_up_sync(const char* place, unsigned thread, unsigned count,
                                        unsigned delta, int width = 32) {
  const int lane = thread & 31;
  return of_lane<T>(place, thread, count,
                    (lane & (width - 1)) >= (int)delta ? lane - (int)delta : lane);
}

CUDA_ON_CPU_INLINE void bring_vote(char* place, unsigned thread, bool vote) {
  bring<int>(place, thread, vote);
}
CUDA_ON_CPU_INLINE unsigned phase_ballot_sync(const char* place, unsigned thread, unsigned count) {
  const unsigned first = thread & ~31u;
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (first + lane < count) lanes |= (unsigned)brought<int>(place, first + lane) << lane;
  return lanes;
}
CUDA_ON_CPU_INLINE int phase_any_sync(const char* place, unsigned thread, unsigned count) {
  return phase_ballot_sync(place, thread, count) != 0;
}
CUDA_ON_CPU_INLINE int phase_all_sync(const char* place, unsigned thread, unsigned count) {
  const unsigned first = thread & ~31u, lanes = count - first;
  return phase_ballot_sync(place, thread, count) == (lanes < 32 ? (1u << lanes) - 1 : 0xffffffffu);
}
CUDA_ON_CPU_INLINE int phase_sum(const char* place, unsigned count) {
  int sum = 0;
  for (unsigned thread = 0; thread < count; ++thread) sum += brought<int>(place, thread);
  return sum;
}

CUDA_ON_CPU_INLINE bool all_exited(const int* exited, unsigned count) {
  int all = 1;
  for (unsigned thread = 0; thread < count; ++thread) all &= exited[thread];
  return all;
}

// Whether each warp is wholly in or out of a branch in which its 32 lanes are to meet.
CUDA_ON_CPU_INLINE bool has_whole_warps(const int* inside, unsigned count) {
  int differs = 0;
  for (unsigned thread = 0; thread < count; ++thread) differs |= inside[thread] ^ inside[thread & ~31u];
  if (__builtin_expect(differs, 0)) cuda_on_cpu_lanes_missing();
  return !differs;
}

}  // namespace cuda_on_cpu
