// Part of cuda_runtime.h here; the driver API is not.
#pragma once
#include "cuda_runtime.h"

#define CUDA_VERSION CUDART_VERSION
