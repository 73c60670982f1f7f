// Calls that make the host wait for the device, counted: a submission that waits inside of forward
// cannot be timed behind a gate that opens later.

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#define HIDDEN __attribute__((visibility("hidden")))
#define MAYBE __attribute__((weak))

namespace {

std::atomic<uint64_t> num_synchronisations{0};

}  // namespace

// Asking is counted too: whoever asks does so until the answer is yes.
#define WRAP(name, parameters, arguments)             \
  MAYBE cudaError_t __real_##name parameters;         \
  HIDDEN cudaError_t __wrap_##name parameters {       \
    ++num_synchronisations;                           \
    return __real_##name arguments;                   \
  }
#define WRAP_STREAM(name) WRAP(name, (cudaStream_t stream), (stream))
#define WRAP_EVENT(name) WRAP(name, (cudaEvent_t event), (event))
#define WRAP_COPY(name)                                                             \
  WRAP(name, (void* out, const void* in, size_t bytes, cudaMemcpyKind kind),        \
       (out, in, bytes, kind))
#define WRAP_TO_SYMBOL(name)                                                                    \
  WRAP(name, (const void* symbol, const void* in, size_t bytes, size_t offset, cudaMemcpyKind k), \
       (symbol, in, bytes, offset, k))
#define WRAP_FROM_SYMBOL(name)                                                              \
  WRAP(name, (void* out, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind k), \
       (out, symbol, bytes, offset, k))
#define WRAP_COPY_2D(name)                                                                         \
  WRAP(name,                                                                                       \
       (void* out, size_t out_pitch, const void* in, size_t in_pitch, size_t width, size_t height, \
        cudaMemcpyKind kind),                                                                      \
       (out, out_pitch, in, in_pitch, width, height, kind))
// Memory of the host that is not pinned is copied to before the call returns.
#define WRAP_ASYNC_COPY(name)                                                                     \
  MAYBE cudaError_t __real_##name(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);      \
  HIDDEN cudaError_t __wrap_##name(void* out, const void* in, size_t bytes, cudaMemcpyKind kind,  \
                                   cudaStream_t stream) {                                         \
    if (kind == cudaMemcpyDeviceToHost) ++num_synchronisations;                                   \
    return __real_##name(out, in, bytes, kind, stream);                                           \
  }

extern "C" {

WRAP(cudaDeviceSynchronize, (void), ())
WRAP(cudaFree, (void* memory), (memory))
WRAP_STREAM(cudaStreamSynchronize)
WRAP_STREAM(cudaStreamSynchronize_ptsz)
WRAP_STREAM(cudaStreamQuery)
WRAP_STREAM(cudaStreamQuery_ptsz)
WRAP_EVENT(cudaEventSynchronize)
WRAP_EVENT(cudaEventQuery)
WRAP_COPY(cudaMemcpy)
WRAP_COPY(cudaMemcpy_ptds)
WRAP_TO_SYMBOL(cudaMemcpyToSymbol)
WRAP_TO_SYMBOL(cudaMemcpyToSymbol_ptds)
WRAP_FROM_SYMBOL(cudaMemcpyFromSymbol)
WRAP_FROM_SYMBOL(cudaMemcpyFromSymbol_ptds)
WRAP_COPY_2D(cudaMemcpy2D)
WRAP_COPY_2D(cudaMemcpy2D_ptds)
WRAP_ASYNC_COPY(cudaMemcpyAsync)
WRAP_ASYNC_COPY(cudaMemcpyAsync_ptsz)

__attribute__((visibility("default"))) uint64_t
launch_recorder_num_synchronisations(void) { return num_synchronisations; }

}  // extern "C"
