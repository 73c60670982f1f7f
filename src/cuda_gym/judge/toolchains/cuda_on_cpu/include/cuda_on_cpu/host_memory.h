// Memory as host code asks for it. Device memory is host memory, but every allocation is known: what
// a GPU refuses (a foreign pointer, a copy past the end, more than there is) is refused here.
#pragma once

#include "host_types.h"

extern "C" {
cudaError_t cuda_on_cpu_malloc(void** pointer, size_t bytes);
cudaError_t cuda_on_cpu_malloc_managed(void** pointer, size_t bytes, unsigned flags);
cudaError_t cuda_on_cpu_malloc_host(void** pointer, size_t bytes);
cudaError_t cuda_on_cpu_malloc_pitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cuda_on_cpu_host_device_pointer(void** device, void* host);
// Where a device symbol is, for copies: they may not leave it.
cudaError_t cuda_on_cpu_copy_symbol(void* symbol, size_t symbol_bytes, void* other, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, bool to_symbol);

cudaError_t cudaFree(void* pointer) CUDA_ON_CPU_NAMED(cudaFree);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) CUDA_ON_CPU_NAMED(cudaFreeAsync);
cudaError_t cudaFreeHost(void* pointer) CUDA_ON_CPU_NAMED(cudaFreeHost);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags)
    CUDA_ON_CPU_NAMED(cudaHostRegister);
cudaError_t cudaHostUnregister(void* pointer) CUDA_ON_CPU_NAMED(cudaHostUnregister);
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) CUDA_ON_CPU_NAMED(cudaHostGetFlags);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes)
    CUDA_ON_CPU_NAMED(cudaMemGetInfo);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer)
    CUDA_ON_CPU_NAMED(cudaPointerGetAttributes);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent)
    CUDA_ON_CPU_NAMED(cudaMalloc3D);

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind)
    CUDA_ON_CPU_NAMED(cudaMemcpy);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
    CUDA_ON_CPU_NAMED(cudaMemcpy2D);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what) CUDA_ON_CPU_NAMED(cudaMemcpy3D);
cudaError_t cudaMemset(void* to, int value, size_t bytes) CUDA_ON_CPU_NAMED(cudaMemset);
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height)
    CUDA_ON_CPU_NAMED(cudaMemset2D);
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent)
    CUDA_ON_CPU_NAMED(cudaMemset3D);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes)
    CUDA_ON_CPU_NAMED(cudaMemcpyPeer);
}

template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cuda_on_cpu_malloc((void**)(void*)pointer, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t) {
  return cuda_on_cpu_malloc((void**)(void*)pointer, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocManaged(T** pointer, size_t bytes,
                                                 unsigned flags = cudaMemAttachGlobal) {
  return cuda_on_cpu_malloc_managed((void**)(void*)pointer, bytes, flags);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned = 0) {
  return cuda_on_cpu_malloc_host((void**)(void*)pointer, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned) {
  return cuda_on_cpu_malloc_host((void**)(void*)pointer, bytes);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width,
                                               size_t height) {
  return cuda_on_cpu_malloc_pitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  return cuda_on_cpu_host_device_pointer((void**)(void*)device, host);
}

CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                               cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                                 size_t from_pitch, size_t width, size_t height,
                                                 cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* what,
                                                 cudaStream_t = nullptr) {
  return cudaMemcpy3D(what);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                                   int from_device, size_t bytes,
                                                   cudaStream_t = nullptr) {
  return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                               cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                                 size_t height, cudaStream_t = nullptr) {
  return cudaMemset2D(to, pitch, value, width, height);
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                                 cudaStream_t = nullptr) {
  return cudaMemset3D(to, value, extent);
}

template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                                  size_t offset = 0,
                                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cuda_on_cpu_copy_symbol((void*)&symbol, sizeof(T), (void*)from, bytes, offset, kind, true);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from,
                                                       size_t bytes, size_t offset = 0,
                                                       cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                       cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                                    size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cuda_on_cpu_copy_symbol((void*)&symbol, sizeof(T), to, bytes, offset, kind, false);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t
cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                          cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <class Pointer, class T>
CUDA_ON_CPU_INLINE cudaError_t cudaGetSymbolAddress(Pointer** address, const T& symbol) {
  return *address = (Pointer*)(void*)&symbol, cudaSuccess;
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
  return *bytes = sizeof(T), cudaSuccess;
}

// Advice where managed memory should be; it is everywhere. Where a location is named, before CUDA 13
// by the number of a device.
template <class Location>
CUDA_ON_CPU_INLINE cudaError_t cudaMemPrefetchAsync(const void*, size_t, Location,
                                                    cudaStream_t = nullptr) {
  return cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                                    cudaStream_t = nullptr) {
  return cudaSuccess;
}
template <class Location>
CUDA_ON_CPU_INLINE cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, Location) {
  return cudaSuccess;
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, size_t = 0,
                                                        unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}
