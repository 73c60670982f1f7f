// How long each kernel takes, while somebody asks.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "runtime.h"

namespace cuda_on_cpu {

extern std::atomic<bool> are_launches_timed;

// Adds a launch to what is known of its kernel. The caller holds the lock of launches.
void note_launch(const Launch& launch, uint64_t nanoseconds);

// Stands for as long as a grid runs.
class TimedLaunch {
 public:
  explicit TimedLaunch(const Launch& launch)
      : launch_(launch), start_(are_launches_timed ? now() : 0) {}
  ~TimedLaunch() {
    if (start_) note_launch(launch_, now() - start_);
  }
  TimedLaunch(const TimedLaunch&) = delete;
  TimedLaunch& operator=(const TimedLaunch&) = delete;

 private:
  static uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
  }

  const Launch& launch_;
  const uint64_t start_;
};

}  // namespace cuda_on_cpu
