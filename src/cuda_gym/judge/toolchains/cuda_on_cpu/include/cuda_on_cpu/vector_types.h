// float4, int2, dim3 and their relatives, with CUDA's alignments.
#pragma once

#define CUDA_ON_CPU_VECTOR(scalar, name, align2, align4)                             \
  struct name##1 {                                                                   \
    scalar x;                                                                        \
  };                                                                                 \
  struct __attribute__((aligned(align2))) name##2 {                                  \
    scalar x, y;                                                                     \
  };                                                                                 \
  struct name##3 {                                                                   \
    scalar x, y, z;                                                                  \
  };                                                                                 \
  struct __attribute__((aligned(align4))) name##4 {                                  \
    scalar x, y, z, w;                                                               \
  };                                                                                 \
  CUDA_ON_CPU_INLINE constexpr name##1 make_##name##1(scalar x) {                    \
    return {x};                                                                      \
  }                                                                                  \
  CUDA_ON_CPU_INLINE constexpr name##2 make_##name##2(scalar x, scalar y) {          \
    return {x, y};                                                                   \
  }                                                                                  \
  CUDA_ON_CPU_INLINE constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) {\
    return {x, y, z};                                                                \
  }                                                                                  \
  CUDA_ON_CPU_INLINE constexpr name##4 make_##name##4(scalar x, scalar y, scalar z,  \
                                                      scalar w) {                    \
    return {x, y, z, w};                                                             \
  }

CUDA_ON_CPU_VECTOR(signed char, char, 2, 4)
CUDA_ON_CPU_VECTOR(unsigned char, uchar, 2, 4)
CUDA_ON_CPU_VECTOR(short, short, 4, 8)
CUDA_ON_CPU_VECTOR(unsigned short, ushort, 4, 8)
CUDA_ON_CPU_VECTOR(int, int, 8, 16)
CUDA_ON_CPU_VECTOR(unsigned int, uint, 8, 16)
CUDA_ON_CPU_VECTOR(long, long, 16, 16)
CUDA_ON_CPU_VECTOR(unsigned long, ulong, 16, 16)
CUDA_ON_CPU_VECTOR(long long, longlong, 16, 16)
CUDA_ON_CPU_VECTOR(unsigned long long, ulonglong, 16, 16)
CUDA_ON_CPU_VECTOR(float, float, 8, 16)
CUDA_ON_CPU_VECTOR(double, double, 16, 16)
#undef CUDA_ON_CPU_VECTOR

// The four 64-bit numbers with an alignment of choice.
#define CUDA_ON_CPU_VECTOR(scalar, name, bytes)                                                   \
  struct __attribute__((aligned(bytes))) name##4_##bytes##a {                                     \
    scalar x, y, z, w;                                                                            \
  };                                                                                              \
  CUDA_ON_CPU_INLINE constexpr name##4_##bytes##a make_##name##4_##bytes##a(scalar x, scalar y,   \
                                                                            scalar z, scalar w) { \
    return {x, y, z, w};                                                                          \
  }
CUDA_ON_CPU_VECTOR(long, long, 16)
CUDA_ON_CPU_VECTOR(long, long, 32)
CUDA_ON_CPU_VECTOR(unsigned long, ulong, 16)
CUDA_ON_CPU_VECTOR(unsigned long, ulong, 32)
CUDA_ON_CPU_VECTOR(long long, longlong, 16)
CUDA_ON_CPU_VECTOR(long long, longlong, 32)
CUDA_ON_CPU_VECTOR(unsigned long long, ulonglong, 16)
CUDA_ON_CPU_VECTOR(unsigned long long, ulonglong, 32)
CUDA_ON_CPU_VECTOR(double, double, 16)
CUDA_ON_CPU_VECTOR(double, double, 32)
#undef CUDA_ON_CPU_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
