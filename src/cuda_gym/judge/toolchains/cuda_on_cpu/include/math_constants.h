// CUDA's names for mathematical constants.
#pragma once
#include "cuda_runtime.h"

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MIN_DENORM_F 1.4012985e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_TWO_F 1.41421356237f
#define CUDART_SQRT_HALF_F 0.70710678118f
#define CUDART_LOG2E_F 1.44269504089f
#define CUDART_LN2_F 0.69314718056f
#define CUDART_PI_F 3.14159265359f
#define CUDART_PIO2_F 1.57079632679f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.14159265358979323846
