// Streams and events.

#include "../include/cuda_on_cpu/host_streams.h"

#include <pthread.h>

#include <set>

#include "runtime.h"

extern "C" double cuda_on_cpu_now_ms(void);

struct CUstream_st {
  unsigned flags;
  int priority;
};
struct CUevent_st {
  unsigned flags;
  double time_ms;
  bool is_recorded;
};

using namespace cuda_on_cpu;

namespace {

constexpr int highest_priority = -5;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Locked {
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
};

// The handles that have been created and not destroyed.
std::set<const void*>& handles() {
  static std::set<const void*>* const all = new std::set<const void*>;
  return *all;
}

template <class Handle>
void add(const Handle* handle) {
  Locked locked;
  handles().insert(handle);
}
bool remove(const void* handle) {
  Locked locked;
  return handles().erase(handle) != 0;
}
bool exists(const void* handle) {
  Locked locked;
  return handles().count(handle) != 0;
}
// The default streams always exist.
bool is_stream(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread || exists(stream);
}
bool is_own_stream(cudaStream_t stream) {
  return stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (!stream || flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
  if (priority > 0) priority = 0;
  *stream = new CUstream_st{flags, priority < highest_priority ? highest_priority : priority};
  add(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!is_own_stream(stream) || !remove(stream)) return failed(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
  return *flags = is_own_stream(stream) ? stream->flags : cudaStreamDefault, cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
  return *priority = is_own_stream(stream) ? stream->priority : 0, cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  return is_stream(stream) ? cudaSuccess : failed(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = highest_priority;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (!event) return failed(cudaErrorInvalidValue);
  *event = new CUevent_st{flags, 0.0, false};
  add(*event);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  if (!exists(event) || !is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
  event->time_ms = cuda_on_cpu_now_ms();
  event->is_recorded = true;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  return exists(event) ? cudaSuccess : failed(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  if (const int error = sticky_error()) return (cudaError_t)error;
  if (!ms) return failed(cudaErrorInvalidValue);
  for (const cudaEvent_t event : {from, to})
    if (!exists(event) || !event->is_recorded || (event->flags & cudaEventDisableTiming))
      return failed(cudaErrorInvalidResourceHandle);
  return *ms = (float)(to->time_ms - from->time_ms), cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!remove(event)) return failed(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

}  // extern "C"
