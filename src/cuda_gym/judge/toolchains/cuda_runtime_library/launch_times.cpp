#include "launch_times.h"

#include <cstring>

#include "kernel_names.h"

// What waits here is not the submission.
extern "C" cudaError_t __real_cudaEventSynchronize(cudaEvent_t) __attribute__((weak));

namespace launch_recorder {

bool are_launches_timed = false;

namespace {

struct TimedLaunch {
  Launch launch;
  cudaEvent_t start, stop;
};

// Beyond these, launches are counted without being timed, and kernels share the last place.
constexpr unsigned most_launches = 4096;
constexpr unsigned most_kernels = 32;
constexpr int num_empty_pairs = 8;

TimedLaunch launches[most_launches];
unsigned num_launches = 0;
unsigned num_untimed = 0;
KernelTime times[most_kernels];
unsigned num_times = 0;
bool are_summed = false;

bool have_events(TimedLaunch* timed) {
  if (!timed->start && cudaEventCreate(&timed->start) != cudaSuccess) timed->start = nullptr;
  if (!timed->stop && cudaEventCreate(&timed->stop) != cudaSuccess) timed->stop = nullptr;
  return timed->start && timed->stop;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t answer = cudaStreamIsCapturing(stream, &status);
  // The default stream cannot be asked while another one is captured: the answer is an error of ours.
  if (answer == cudaErrorStreamCaptureImplicit) cudaGetLastError();
  return answer != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

float between(const TimedLaunch& timed) {
  float milliseconds = 0;
  if (__real_cudaEventSynchronize(timed.stop) != cudaSuccess) return 0;
  if (cudaEventElapsedTime(&milliseconds, timed.start, timed.stop) != cudaSuccess) return 0;
  return milliseconds;
}

// What a pair of events takes by itself: about 3 us on an H200, as much as a small kernel.
float empty_pair(TimedLaunch timed) {
  float least = 0;
  for (int i = 0; i < num_empty_pairs; ++i) {
    cudaEventRecord(timed.start, timed.launch.stream);
    cudaEventRecord(timed.stop, timed.launch.stream);
    const float found = between(timed);
    if (i == 0 || found < least) least = found;
  }
  return least;
}

KernelTime& time_of(const char* kernel) {
  for (unsigned i = 0; i < num_times; ++i)
    if (!strcmp(times[i].kernel, kernel)) return times[i];
  if (num_times == most_kernels) return times[most_kernels - 1];
  times[num_times] = KernelTime{};
  times[num_times].kernel = kernel;
  return times[num_times++];
}

void add(const Launch& launch, uint64_t nanoseconds) {
  KernelTime& time = time_of(kernel_names.name_of(launch.kernel));
  ++time.launches;
  time.total_ns += nanoseconds;
  if (time.launches > 1 && nanoseconds < time.longest_ns) return;
  time.longest_ns = nanoseconds;
  const Extent extents[] = {launch.grid, launch.block};
  uint32_t* const places[] = {time.grid, time.block};
  for (int i = 0; i < 2; ++i) {
    places[i][0] = extents[i].x;
    places[i][1] = extents[i].y;
    places[i][2] = extents[i].z;
  }
}

void sum_up() {
  are_summed = true;
  if (!num_launches) return;
  // All of them before a pair is recorded again for the empty one.
  static float taken[most_launches];
  for (unsigned i = 0; i < num_launches; ++i) taken[i] = between(launches[i]);
  const float empty = empty_pair(launches[0]);
  for (unsigned i = 0; i < num_launches; ++i) {
    const float net = taken[i] > empty ? taken[i] - empty : 0;
    add(launches[i].launch, (uint64_t)(net * 1e6f));
  }
  // What was not timed took as long as what was.
  const double share = 1.0 + (double)num_untimed / num_launches;
  for (unsigned i = 0; i < num_times && num_untimed; ++i) {
    times[i].launches = (uint64_t)(times[i].launches * share);
    times[i].total_ns = (uint64_t)(times[i].total_ns * share);
  }
}

}  // namespace

void time_launches(bool on) {
  num_launches = num_untimed = num_times = 0;
  are_summed = false;
  are_launches_timed = on;
}

int begin_launch(const Launch& launch) {
  if (!are_launches_timed || is_captured(launch.stream)) return -1;
  if (num_launches == most_launches) {
    ++num_untimed;
    return -1;
  }
  TimedLaunch* const timed = &launches[num_launches];
  if (!have_events(timed)) return -1;
  if (cudaEventRecord(timed->start, launch.stream) != cudaSuccess) return -1;
  timed->launch = launch;
  are_summed = false;
  return (int)num_launches++;
}

void end_launch(int number, const Launch& launch, bool was_launched) {
  if (number < 0) return;
  if (was_launched) cudaEventRecord(launches[number].stop, launch.stream);
  if (!was_launched && num_launches == (unsigned)number + 1) --num_launches;
}

bool kernel_time(unsigned number, KernelTime* out) {
  if (!are_summed) {
    num_times = 0;
    sum_up();
  }
  if (number >= num_times) return false;
  *out = times[number];
  return true;
}

}  // namespace launch_recorder
