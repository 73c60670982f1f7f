// The keywords of CUDA C++ as a host compiler may read them, and the reserved names of this device.
//
// What the C++ grammar cannot take (launches, extern __shared__, hidden parameters of kernels) is
// rewritten before the compiler sees it; everything else is here.
#pragma once

#define CUDA_ON_CPU 1
#define CUDART_VERSION 13000

#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __grid_constant__
// A block never leaves its OS thread, so what the threads of a block share is local to that thread.
// The checking build has a single one.
#if CUDA_ON_CPU_CHECKING
#define __shared__ static
#else
#define __shared__ static thread_local
#endif
// Not always_inline: a function whose address is taken must still exist.
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_CB

#define CUDA_ON_CPU_INLINE static inline __attribute__((always_inline))
#define CUDA_ON_CPU_MEMBER inline __attribute__((always_inline))
// Initial-exec: one instruction instead of a call. Only the runtime library defines such variables,
// so that loading kernels never exhausts the static thread-local space.
#define CUDA_ON_CPU_TLS __attribute__((tls_model("initial-exec")))
#define CUDA_ON_CPU_TEXT_(...) #__VA_ARGS__
#define CUDA_ON_CPU_TEXT(...) CUDA_ON_CPU_TEXT_(__VA_ARGS__)
// In front of a loop over the threads of a block: those that do not wait for each other may run in any
// order.
#if defined(__clang__)
#define CUDA_ON_CPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define CUDA_ON_CPU_INDEPENDENT _Pragma("GCC ivdep")
#endif
