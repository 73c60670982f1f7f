// The part of the CUDA runtime that host code calls. Device memory is host memory; every call is
// finished when it returns, so streams and events only need to exist.
#pragma once

#include <cstdlib>
#include <cstring>

#include "launch.h"

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorAssert = 710,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };

typedef struct CUevent_st* cudaEvent_t;
struct CUevent_st {
  double time_ms;
};
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)

extern "C" {
int cuda_on_cpu_last_error(int clear);
const char* cuda_on_cpu_error_name(int code);
const char* cuda_on_cpu_error_string(int code);
int cuda_on_cpu_num_threads(void);
int cuda_on_cpu_allow_dynamic_shared(int bytes);
double cuda_on_cpu_now_ms(void);
}

// Errors

CUDA_ON_CPU_INLINE cudaError_t cudaGetLastError() { return (cudaError_t)cuda_on_cpu_last_error(1); }
CUDA_ON_CPU_INLINE cudaError_t cudaPeekAtLastError() {
  return (cudaError_t)cuda_on_cpu_last_error(0);
}
CUDA_ON_CPU_INLINE const char* cudaGetErrorName(cudaError_t e) { return cuda_on_cpu_error_name(e); }
CUDA_ON_CPU_INLINE const char* cudaGetErrorString(cudaError_t e) {
  return cuda_on_cpu_error_string(e);
}

// Memory

template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes ? bytes : 1)) return cudaErrorMemoryAllocation;
  *pointer = static_cast<T*>(memory);
  return cudaSuccess;
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned = 1) {
  return cudaMalloc(pointer, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocHost(T** pointer, size_t bytes) {
  return cudaMalloc(pointer, bytes);
}
CUDA_ON_CPU_INLINE cudaError_t cudaFree(void* p) { return free(p), cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
CUDA_ON_CPU_INLINE cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }

CUDA_ON_CPU_INLINE cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                                          cudaMemcpyKind) {
  return memmove(to, from, bytes), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                               cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                                            size_t from_pitch, size_t width, size_t height,
                                            cudaMemcpyKind) {
  for (size_t row = 0; row < height; ++row)
    memmove((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width);
  return cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return memset(to, value, bytes), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                               cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                                                  size_t offset = 0,
                                                  cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return memcpy((char*)&symbol + offset, from, bytes), cudaSuccess;
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes,
                                                       size_t offset = 0,
                                                       cudaMemcpyKind = cudaMemcpyHostToDevice,
                                                       cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                                    size_t offset = 0,
                                                    cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return memcpy(to, (const char*)&symbol + offset, bytes), cudaSuccess;
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  return *address = (void*)&symbol, cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return *free_bytes = *total_bytes = (size_t)1 << 32, cudaSuccess;
}

// Streams and events

CUDA_ON_CPU_INLINE cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = (cudaStream_t)malloc(1);
  return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return free((void*)stream), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaPeekAtLastError(); }
CUDA_ON_CPU_INLINE cudaError_t cudaStreamQuery(cudaStream_t) { return cudaPeekAtLastError(); }
CUDA_ON_CPU_INLINE cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = (cudaEvent_t)calloc(1, sizeof(CUevent_st));
  return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  return event->time_ms = cuda_on_cpu_now_ms(), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  return *ms = (float)(to->time_ms - from->time_ms), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return free(event), cudaSuccess;
}

// The device: one, with the limits of a GPU of compute capability 9.0

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem;
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, l2CacheSize, clockRate;
};
CUDA_ON_CPU_INLINE cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaSetDevice(int device) {
  return device ? cudaErrorInvalidDevice : cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaDeviceSynchronize() { return cudaPeekAtLastError(); }
CUDA_ON_CPU_INLINE cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 << 10; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = cuda_on_cpu_num_threads(); break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 228 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device) return cudaErrorInvalidDevice;
  *properties = cudaDeviceProp{
      "cpu",      (size_t)1 << 32, 48 << 10, 64 << 10, 228 << 10, 227 << 10, 65536, 32, 1024,
      {1024, 1024, 64}, {0x7fffffff, 65535, 65535}, 9, 0, cuda_on_cpu_num_threads(), 2048,
      32 << 20,   1000000};
  return cudaSuccess;
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaFuncSetAttribute(Function*, cudaFuncAttribute attribute,
                                                    int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return (cudaError_t)cuda_on_cpu_allow_dynamic_shared(value);
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaFuncSetCacheConfig(Function*, cudaFuncCache) {
  return cudaSuccess;
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function,
                                                                             int size, size_t) {
  return *blocks = 2048 / (size > 0 ? size : 1), cudaSuccess;
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Function,
                                                                  size_t = 0, int = 0) {
  return *block = 256, *grid = 8 * cuda_on_cpu_num_threads(), cudaSuccess;
}
