// CUDA C++ on the host, all of it: what nvcc includes by itself in front of every file.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "cuda_on_cpu/language.h"

#include "cuda_on_cpu/math.h"

#include "cuda_on_cpu/atomics.h"
#include "cuda_on_cpu/barriers.h"
#include "cuda_on_cpu/bits.h"
#include "cuda_on_cpu/conversions.h"
#include "cuda_on_cpu/host_api.h"
#include "cuda_on_cpu/legacy_warp.h"
#include "cuda_on_cpu/memory_access.h"
#include "cuda_on_cpu/packed_numbers.h"
#include "cuda_on_cpu/rounded_math.h"
#include "cuda_on_cpu/special_functions.h"
#include "cuda_on_cpu/vector_types.h"
#include "cuda_on_cpu/warp.h"

// Helper headers of samples and libraries ask for these before they declare anything.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__

#ifndef CUDA_ON_CPU_HOST_FILE
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#endif
