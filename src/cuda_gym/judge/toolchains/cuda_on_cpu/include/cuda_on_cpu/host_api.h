// The part of the CUDA runtime that host code calls. Device memory is host memory, and every call is
// finished when it returns.
#pragma once

#include "host_attributes.h"
#include "host_device.h"
#include "host_memory.h"
#include "host_streams.h"
#include "launch.h"

extern "C" double cuda_on_cpu_now_ms(void);
