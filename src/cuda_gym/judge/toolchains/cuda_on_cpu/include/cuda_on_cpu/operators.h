// Operations as objects: cub::Sum and its newer names cuda::std::plus and cuda::maximum.
#pragma once

#include "cuda_runtime.h"

#define CUDA_ON_CPU_OPERATION(name, value)                                     \
  template <class T = void>                                                    \
  struct name {                                                                \
    constexpr T operator()(const T& a, const T& b) const { return value; }     \
  };                                                                           \
  template <>                                                                  \
  struct name<void> {                                                          \
    template <class A, class B>                                                \
    constexpr auto operator()(const A& a, const B& b) const {                  \
      return value;                                                            \
    }                                                                          \
  };

namespace cuda {
CUDA_ON_CPU_OPERATION(maximum, a < b ? b : a)
CUDA_ON_CPU_OPERATION(minimum, b < a ? b : a)
namespace std {
CUDA_ON_CPU_OPERATION(plus, a + b)
CUDA_ON_CPU_OPERATION(minus, a - b)
CUDA_ON_CPU_OPERATION(multiplies, (a * b))
CUDA_ON_CPU_OPERATION(bit_and, a & b)
CUDA_ON_CPU_OPERATION(bit_or, a | b)
CUDA_ON_CPU_OPERATION(bit_xor, a ^ b)
CUDA_ON_CPU_OPERATION(logical_and, (a && b))
CUDA_ON_CPU_OPERATION(logical_or, (a || b))
}  // namespace std
}  // namespace cuda
#undef CUDA_ON_CPU_OPERATION

namespace cub {
using Sum = cuda::std::plus<>;
using Max = cuda::maximum<>;
using Min = cuda::minimum<>;
}  // namespace cub
