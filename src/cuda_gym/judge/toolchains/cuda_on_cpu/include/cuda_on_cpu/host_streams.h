// Streams and events. Every call is finished when it returns, so a stream is an identity, and an event
// the time at which it was recorded.
#pragma once

#include "host_types.h"

typedef void (*cudaHostFn_t)(void* data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);

extern "C" {
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority)
    CUDA_ON_CPU_NAMED(cudaStreamCreateWithPriority);
cudaError_t cudaStreamDestroy(cudaStream_t stream) CUDA_ON_CPU_NAMED(cudaStreamDestroy);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags)
    CUDA_ON_CPU_NAMED(cudaStreamGetFlags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority)
    CUDA_ON_CPU_NAMED(cudaStreamGetPriority);
cudaError_t cudaStreamSynchronize(cudaStream_t stream) CUDA_ON_CPU_NAMED(cudaStreamSynchronize);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags)
    CUDA_ON_CPU_NAMED(cudaEventCreateWithFlags);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
    CUDA_ON_CPU_NAMED(cudaEventRecordWithFlags);
cudaError_t cudaEventSynchronize(cudaEvent_t event) CUDA_ON_CPU_NAMED(cudaEventSynchronize);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to)
    CUDA_ON_CPU_NAMED(cudaEventElapsedTime);
cudaError_t cudaEventDestroy(cudaEvent_t event) CUDA_ON_CPU_NAMED(cudaEventDestroy);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
    CUDA_ON_CPU_NAMED(cudaDeviceGetStreamPriorityRange);
}

CUDA_ON_CPU_INLINE cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned = 0) {
  return cudaEventSynchronize(event);
}
CUDA_ON_CPU_INLINE cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                                     cudaStreamCallback_t callback, void* data,
                                                     unsigned) {
  return callback(stream, cudaStreamSynchronize(stream), data), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  return function(data), cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
CUDA_ON_CPU_INLINE cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}
