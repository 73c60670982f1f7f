// How long each kernel takes, by an event before and after each launch, while somebody asks.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "launch.h"

namespace launch_recorder {

// As launch_recorder.py reads it.
struct KernelTime {
  const char* kernel;
  uint64_t launches, total_ns;
  uint32_t grid[3], block[3];  // of the longest launch
  uint64_t longest_ns;
};

// Whether launches are timed. The caller of everything here holds the recorder's lock.
extern bool are_launches_timed;

// Forgets what was noted, and notes from now on, or no longer.
void time_launches(bool on);

// An event in front of a launch; a number for `end_launch`, or -1 where the launch is not timed: while
// its stream is being captured, and beyond so many launches.
int begin_launch(const Launch& launch);

// The event behind it; a launch that was refused is forgotten.
void end_launch(int number, const Launch& launch, bool was_launched);

// The kernels in the order of their first launches; false behind the last one. Waits for them.
bool kernel_time(unsigned number, KernelTime* out);

}  // namespace launch_recorder
