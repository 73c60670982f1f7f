// cudaMalloc, cudaMemcpy, cudaMemset and their relatives, with the errors of a GPU.

#include "../include/cuda_on_cpu/host_memory.h"

#include <cstdint>
#include <cstring>

#include "memory.h"
#include "runtime.h"

using namespace cuda_on_cpu;

namespace {

// Of rows; a GPU takes the same.
constexpr size_t pitch_alignment = 512;

cudaError_t allocated(void** pointer, size_t bytes, MemoryKind kind) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  if (!pointer) return failed(cudaErrorInvalidValue);
  if (bytes == 0) return *pointer = nullptr, cudaSuccess;
  void* const memory = allocate(bytes, kind);
  if (!memory) return failed(cudaErrorMemoryAllocation);
  return *pointer = memory, cudaSuccess;
}

cudaError_t released(void* pointer, MemoryKind kind, MemoryKind other_kind) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  if (!pointer || release(pointer, kind, other_kind)) return cudaSuccess;
  return failed(cudaErrorInvalidValue);
}

// What one side of a copy is said to be.
enum class Side { any, host, device };

Side from_side(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return Side::any;
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? Side::host : Side::device;
}
Side to_side(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return Side::any;
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? Side::host : Side::device;
}

// Whether bytes at a place may be what they are said to be. Where nothing is known of an address (the
// tensors of a judge, variables of the program) everything may be.
bool is_possible(const void* place, size_t bytes, Side side) {
  if (!place) return false;
  Allocation allocation;
  if (!find_allocation(place, &allocation)) return side != Side::device || !is_of_host_only(place);
  if (side == Side::host && allocation.kind == MemoryKind::device) return false;
  return bytes <= allocation.bytes - (size_t)(static_cast<const char*>(place) - allocation.start);
}

cudaError_t copied(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return failed(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (!is_possible(to, bytes, to_side(kind)) || !is_possible(from, bytes, from_side(kind)))
    return failed(cudaErrorInvalidValue);
  checks::note_write(to, bytes);
  return memmove(to, from, bytes), cudaSuccess;
}

struct Rows {
  char* start;
  size_t pitch, height;  // of one layer, in bytes and in rows

  char* row(size_t layer, size_t number) const { return start + (layer * height + number) * pitch; }
};

cudaError_t filled(void* to, size_t bytes, int value) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  if (bytes == 0) return cudaSuccess;
  if (!is_possible(to, bytes, Side::device)) return failed(cudaErrorInvalidValue);
  checks::note_write(to, bytes);
  return memset(to, value, bytes), cudaSuccess;
}

Rows rows_of(const cudaPitchedPtr& pointer, const cudaPos& position) {
  const Rows all{static_cast<char*>(pointer.ptr), pointer.pitch, pointer.ysize};
  return {all.row(position.z, position.y) + position.x, pointer.pitch, pointer.ysize};
}

}  // namespace

extern "C" {

cudaError_t cuda_on_cpu_malloc(void** pointer, size_t bytes) {
  return allocated(pointer, bytes, MemoryKind::device);
}
cudaError_t cuda_on_cpu_malloc_managed(void** pointer, size_t bytes, unsigned flags) {
  if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
    return failed(cudaErrorInvalidValue);
  return allocated(pointer, bytes, MemoryKind::managed);
}
cudaError_t cuda_on_cpu_malloc_host(void** pointer, size_t bytes) {
  return allocated(pointer, bytes, MemoryKind::host);
}
cudaError_t cuda_on_cpu_malloc_pitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return failed(cudaErrorInvalidValue);
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  size_t bytes;
  if (__builtin_mul_overflow(*pitch, height, &bytes)) return failed(cudaErrorMemoryAllocation);
  return allocated(pointer, bytes, MemoryKind::device);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return failed(cudaErrorInvalidValue);
  size_t rows;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
    return failed(cudaErrorMemoryAllocation);
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return cuda_on_cpu_malloc_pitch(&pointer->ptr, &pointer->pitch, extent.width, rows);
}

cudaError_t cudaFree(void* pointer) {
  return released(pointer, MemoryKind::device, MemoryKind::managed);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
cudaError_t cudaFreeHost(void* pointer) {
  return released(pointer, MemoryKind::host, MemoryKind::host);
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  if (!pointer || !bytes) return failed(cudaErrorInvalidValue);
  return register_memory(pointer, bytes) ? cudaSuccess
                                         : failed(cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void* pointer) {
  if (!pointer) return failed(cudaErrorInvalidValue);
  return release(pointer, MemoryKind::registered, MemoryKind::registered)
             ? cudaSuccess
             : failed(cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  Allocation allocation;
  if (!flags || !find_allocation(pointer, &allocation) || allocation.kind < MemoryKind::host)
    return failed(cudaErrorInvalidValue);
  return *flags = cudaHostAllocMapped, cudaSuccess;
}
cudaError_t cuda_on_cpu_host_device_pointer(void** device, void* host) {
  Allocation allocation;
  if (!device || !find_allocation(host, &allocation) || allocation.kind < MemoryKind::host)
    return failed(cudaErrorInvalidValue);
  return *device = host, cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  if (!free_bytes || !total_bytes) return failed(cudaErrorInvalidValue);
  *total_bytes = total_memory();
  *free_bytes = *total_bytes - memory_in_use();
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return failed(cudaErrorInvalidValue);
  void* const place = const_cast<void*>(pointer);
  Allocation allocation;
  if (!find_allocation(pointer, &allocation)) {
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, place};
    return cudaSuccess;
  }
  switch (allocation.kind) {
    case MemoryKind::device: *attributes = {cudaMemoryTypeDevice, 0, place, nullptr}; break;
    case MemoryKind::managed: *attributes = {cudaMemoryTypeManaged, 0, place, place}; break;
    default: *attributes = {cudaMemoryTypeHost, 0, place, place};
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copied(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row)
    if (const cudaError_t error = copied(static_cast<char*>(to) + row * to_pitch,
                                         static_cast<const char*>(from) + row * from_pitch, width,
                                         kind))
      return error;
  return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what) {
  if (!what || !what->srcPtr.ptr || !what->dstPtr.ptr) return failed(cudaErrorInvalidValue);
  const Rows from = rows_of(what->srcPtr, what->srcPos), to = rows_of(what->dstPtr, what->dstPos);
  for (size_t layer = 0; layer < what->extent.depth; ++layer)
    if (const cudaError_t error =
            cudaMemcpy2D(to.row(layer, 0), to.pitch, from.row(layer, 0), from.pitch,
                         what->extent.width, what->extent.height, what->kind))
      return error;
  return cudaSuccess;
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
  if (to_device || from_device) return failed(cudaErrorInvalidDevice);
  return copied(to, from, bytes, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) { return filled(to, bytes, value); }

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  if (width > pitch) return failed(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row)
    if (const cudaError_t error = filled(static_cast<char*>(to) + row * pitch, width, value))
      return error;
  return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  const Rows rows{static_cast<char*>(to.ptr), to.pitch, to.ysize};
  for (size_t layer = 0; layer < extent.depth; ++layer)
    if (const cudaError_t error =
            cudaMemset2D(rows.row(layer, 0), rows.pitch, value, extent.width, extent.height))
      return error;
  return cudaSuccess;
}

cudaError_t cuda_on_cpu_copy_symbol(void* symbol, size_t symbol_bytes, void* other, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, bool to_symbol) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return failed(cudaErrorInvalidValue);
  const Side here = to_symbol ? to_side(kind) : from_side(kind);
  if (here == Side::host) return failed(cudaErrorInvalidMemcpyDirection);
  void* const place = static_cast<char*>(symbol) + offset;
  return to_symbol ? copied(place, other, bytes, kind) : copied(other, place, bytes, kind);
}

}  // extern "C"
