// Stands between a submission's library and the CUDA runtime: the linker sends every launch here
// (`--wrap`). Launches are counted, the first that fails is kept with its reasons, and each is timed
// while somebody asks.
//
// Not covered: launches through the driver, and those of other libraries.

#include <mutex>

#include "failures.h"
#include "kernel_names.h"
#include "launch_times.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define PUBLIC __attribute__((visibility("default")))
// There only since some version of the runtime; where it is not, nobody calls it.
#define MAYBE __attribute__((weak))

namespace launch_recorder {

KernelNames kernel_names;

namespace {

std::mutex lock;
uint64_t num_launches = 0;
bool has_launched = false;
Launch last_launch{};
bool has_failed = false;
Failure first_failure{};

template <class Call>
cudaError_t record(const Launch& launch, const Call& call) {
  std::lock_guard<std::mutex> hold(lock);
  const int number = begin_launch(launch);
  const cudaError_t status = call();
  end_launch(number, launch, status == cudaSuccess);
  if (status == cudaSuccess) {
    ++num_launches;
    last_launch = launch;
    has_launched = true;
  } else if (!has_failed) {
    has_failed = true;
    first_failure = explain(launch, status);
  }
  return status;
}

cudaStream_t of_thread(cudaStream_t stream) { return stream ? stream : cudaStreamPerThread; }

Launch plain(const void* kernel, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  return {kernel, extent(grid), extent(block), shared_bytes, stream, false};
}

Launch cooperative(const void* kernel, dim3 grid, dim3 block, size_t shared_bytes,
                   cudaStream_t stream) {
  return {kernel, extent(grid), extent(block), shared_bytes, stream, true};
}

Launch graph(cudaStream_t stream) { return {nullptr, {1, 1, 1}, {1, 1, 1}, 0, stream, false}; }

}  // namespace
}  // namespace launch_recorder

using namespace launch_recorder;

extern "C" {

void __real___cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                                   void*, int*);
HIDDEN void __wrap___cudaRegisterFunction(void** library, const char* function, char* device_function,
                                          const char* name, int threads, void* thread, void* block,
                                          void* block_size, void* grid_size, int* warp_size) {
  kernel_names.add(function, name);
  __real___cudaRegisterFunction(library, function, device_function, name, threads, thread, block,
                                block_size, grid_size, warp_size);
}

MAYBE cudaError_t __real___cudaGetKernel(void**, const void*);
HIDDEN cudaError_t __wrap___cudaGetKernel(void** handle, const void* function) {
  const cudaError_t status = __real___cudaGetKernel(handle, function);
  if (status == cudaSuccess) kernel_names.add_handle(function, *handle);
  return status;
}

#define WRAP_LAUNCH(name, describe, stream_of)                                                      \
  MAYBE cudaError_t __real_##name(const void*, dim3, dim3, void**, size_t, cudaStream_t);           \
  HIDDEN cudaError_t __wrap_##name(const void* kernel, dim3 grid, dim3 block, void** arguments,     \
                                   size_t shared_bytes, cudaStream_t stream) {                      \
    return record(describe(kernel, grid, block, shared_bytes, stream_of(stream)), [&] {             \
      return __real_##name(kernel, grid, block, arguments, shared_bytes, stream);                   \
    });                                                                                             \
  }

WRAP_LAUNCH(cudaLaunchKernel, plain, )
WRAP_LAUNCH(cudaLaunchKernel_ptsz, plain, of_thread)
WRAP_LAUNCH(__cudaLaunchKernel, plain, )
WRAP_LAUNCH(__cudaLaunchKernel_ptsz, plain, of_thread)
WRAP_LAUNCH(cudaLaunchCooperativeKernel, cooperative, )
WRAP_LAUNCH(cudaLaunchCooperativeKernel_ptsz, cooperative, of_thread)

#if CUDART_VERSION >= 11080
#define WRAP_CONFIGURED(name, stream_of)                                                            \
  MAYBE cudaError_t __real_##name(const cudaLaunchConfig_t*, const void*, void**);                  \
  HIDDEN cudaError_t __wrap_##name(const cudaLaunchConfig_t* asked, const void* kernel,             \
                                   void** arguments) {                                              \
    return record(plain(kernel, asked->gridDim, asked->blockDim, asked->dynamicSmemBytes,           \
                        stream_of(asked->stream)),                                                  \
                  [&] { return __real_##name(asked, kernel, arguments); });                         \
  }

WRAP_CONFIGURED(cudaLaunchKernelExC, )
WRAP_CONFIGURED(cudaLaunchKernelExC_ptsz, of_thread)
#endif

#define WRAP_GRAPH(name, stream_of)                                                                 \
  MAYBE cudaError_t __real_##name(cudaGraphExec_t, cudaStream_t);                                   \
  HIDDEN cudaError_t __wrap_##name(cudaGraphExec_t executable, cudaStream_t stream) {               \
    return record(graph(stream_of(stream)), [&] { return __real_##name(executable, stream); });     \
  }

WRAP_GRAPH(cudaGraphLaunch, )
WRAP_GRAPH(cudaGraphLaunch_ptsz, of_thread)

PUBLIC uint64_t launch_recorder_num_launches(void) {
  std::lock_guard<std::mutex> hold(lock);
  return num_launches;
}

// The first launch that failed since the last call: 1. Where none did, the error that the runtime
// holds, with the last launch before it: 2, or 3 where nothing was launched. Else 0.
PUBLIC int launch_recorder_take_failure(Failure* out) {
  std::lock_guard<std::mutex> hold(lock);
  const cudaError_t status = cudaGetLastError();
  if (has_failed) {
    has_failed = false;
    *out = first_failure;
    return 1;
  }
  if (status == cudaSuccess) return 0;
  *out = explain(has_launched ? last_launch : Launch{}, status);
  // Where the device is lost, the questions above have failed too.
  cudaGetLastError();
  return has_launched ? 2 : 3;
}

// The last launch that was made: 1. Where there was none: 0.
PUBLIC int launch_recorder_last_launch(Failure* out) {
  std::lock_guard<std::mutex> hold(lock);
  if (has_launched) *out = explain(last_launch, cudaSuccess);
  return has_launched;
}

PUBLIC void launch_recorder_time_kernels(int on) {
  std::lock_guard<std::mutex> hold(lock);
  time_launches(on != 0);
}

PUBLIC int launch_recorder_kernel_time(unsigned number, KernelTime* out) {
  std::lock_guard<std::mutex> hold(lock);
  return kernel_time(number, out);
}

}  // extern "C"
