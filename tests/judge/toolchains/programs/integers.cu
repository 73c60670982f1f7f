// Atomic operations of every type, packed integers, bits, vector types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

__device__ double add_by_exchange(double* address, double value) {
  unsigned long long* place = (unsigned long long*)address;
  unsigned long long old = *place, assumed;
  do {
    assumed = old;
    old = atomicCAS(place, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__device__ float largest_by_exchange(float* address, float value) {
  int* place = (int*)address;
  int old = *place, assumed;
  do {
    assumed = old;
    old = atomicCAS(place, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
struct alignas(16) Wide {
  long long count, sum;
};

// Every thread of the grid changes every number once.
__global__ void atomics_kernel(int* i, unsigned* u, unsigned long long* l, long long* s, float* f,
                               double* d, __half2* h, float4* v, Wide* w, unsigned short* c, int n) {
  const int t = THREAD;
  if (t >= n) return;
  atomicAdd(&i[0], 2), atomicSub(&i[1], 1), atomicMax(&i[2], t), atomicMin(&i[3], -t);
  atomicAnd(&i[4], ~(1 << t % 31)), atomicOr(&i[5], 1 << t % 31), atomicXor(&i[6], t);
  atomicMax(&i[7], 3u), atomicAdd_block(&i[8], 1), atomicAdd_system(&i[9], 1);
  atomicAdd(&u[0], 1), atomicInc(&u[1], 6), atomicDec(&u[2], 6), atomicSub(&u[3], 2);
  atomicMax(&u[4], 7), atomicMin_system(&u[5], 5);
  atomicAdd(&l[0], 3), atomicMax(&l[1], 1ull << 40), atomicMin(&l[2], (unsigned long long)t);
  atomicAnd(&l[3], ~0ull << 8), atomicOr(&l[4], 1ull << t % 64), atomicXor_block(&l[5], 1ull << 50);
  atomicMin(&s[0], (long long)-t << 33), atomicMax(&s[1], (long long)t << 33);
  atomicAdd(&f[0], 0.5), largest_by_exchange(&f[1], (float)(t % 777)), atomicAdd_system(&f[2], 1.0f);
  atomicAdd(&d[0], 0.25), add_by_exchange(&d[1], 0.125), atomicAdd_block(&d[2], 1.0);
  if (t < 64) {
    atomicAdd(h, __half2(1.0f, 0.5f));
    atomicAdd((__half*)(h + 1), __half(2.0f));
    atomicAdd((__nv_bfloat162*)(h + 2), __nv_bfloat162(2.0f, 1.0f));
    atomicAdd((__nv_bfloat16*)(h + 3), __nv_bfloat16(1.0f));
  }
  atomicAdd(v, make_float4(1, 2, 3, 4)), atomicAdd((float2*)(v + 1), make_float2(5, 6));
  Wide old{}, assumed;  // not *w, which another thread may be changing while both halves are read
  do {
    assumed = old;
    old = atomicCAS(w, assumed, Wide{assumed.count + 1, assumed.sum + t});
  } while (old.count != assumed.count || old.sum != assumed.sum);
  unsigned short before = *c, seen;
  do {
    seen = before;
    before = atomicCAS(c, seen, (unsigned short)(seen + 1));
  } while (before != seen);
  // Exchanges hand one value on: what comes out in the end has been put in by somebody.
  atomicExch(&i[10], t), atomicExch(&u[6], 9u), atomicExch(&l[6], 8ull), atomicExch(&f[3], 7.0f);
}
extern "C" void atomics(int* i, unsigned* u, unsigned long long* l, long long* s, float* f,
                        double* d, void* h, float4* v, void* w, unsigned short* c, int n) {
  atomics_kernel<<<(n + 127) / 128, 128>>>(i, u, l, s, f, d, (__half2*)h, v, (Wide*)w, c, n);
}

// What one thread gets back, old values all.
__global__ void old_values_kernel(int* x, long long* out) {
  out[0] = atomicAdd(x, 5), out[1] = atomicSub(x, 1), out[2] = atomicExch(x, 100);
  out[3] = atomicMax(x, 7), out[4] = atomicMin(x, 7), out[5] = atomicCAS(x, 7, 8);
  out[6] = atomicCAS(x, 7, 9), out[7] = atomicOr(x, 16), out[8] = atomicAnd(x, 16);
  out[9] = atomicXor(x, 1), out[10] = *x;
}
extern "C" void old_values(int* x, long long* out) { old_values_kernel<<<1, 1>>>(x, out); }

#define PACKED(F)                                                                                  \
  F(__vadd2) F(__vadd4) F(__vaddss2) F(__vaddss4) F(__vaddus2) F(__vaddus4) F(__vsub2) F(__vsub4)  \
  F(__vsubss2) F(__vsubss4) F(__vsubus2) F(__vsubus4) F(__vabsdiffs2) F(__vabsdiffs4)              \
  F(__vabsdiffu2) F(__vabsdiffu4) F(__vavgs2) F(__vavgs4) F(__vavgu2) F(__vavgu4) F(__vhaddu2)     \
  F(__vhaddu4) F(__vmaxs2) F(__vmaxs4) F(__vmaxu2) F(__vmaxu4) F(__vmins2) F(__vmins4) F(__vminu2) \
  F(__vminu4) F(__vcmpeq2) F(__vcmpeq4) F(__vcmpne4) F(__vcmpges2) F(__vcmpgeu4) F(__vcmpgts4)     \
  F(__vcmpgtu2) F(__vcmples4) F(__vcmpleu2) F(__vcmplts2) F(__vcmpltu4) F(__vseteq4) F(__vsetne2)  \
  F(__vsetges4) F(__vsetgtu2) F(__vsetlts2) F(__vsads2) F(__vsads4) F(__vsadu2) F(__vsadu4)
typedef unsigned (*Packed)(unsigned, unsigned);
__global__ void packed_kernel(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int t = THREAD;
  if (t >= n) return;
#define F(name) [](unsigned x, unsigned y) -> unsigned { return name(x, y); },
  const Packed all[50] = {PACKED(F)};
#undef F
  for (int k = 0; k < 50; ++k) out[54 * t + k] = all[k](a[t], b[t]);
  out[54 * t + 50] = __vabs2(a[t]), out[54 * t + 51] = __vabsss4(a[t]);
  out[54 * t + 52] = __vneg4(a[t]), out[54 * t + 53] = __vnegss2(a[t]);
}
extern "C" void packed(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  packed_kernel<<<(n + 127) / 128, 128>>>(a, b, out, n);
}

__global__ void facts_kernel(long long* out) {
  int k = 0;
  out[k++] = __funnelshift_l(0x80000000u, 1u, 1), out[k++] = __funnelshift_r(1u, 2u, 33);
  out[k++] = __funnelshift_lc(7u, 9u, 40), out[k++] = __funnelshift_rc(7u, 9u, 40);
  out[k++] = __byte_perm(0x03020100u, 0x07060504u, 0x7531), out[k++] = __brevll(1ull) >> 60;
  out[k++] = __clzll(1), out[k++] = __ffsll(1ll << 40), out[k++] = __popcll(-1ll);
  out[k++] = __mul24(-3, 5), out[k++] = __umul24(0x1000003u, 5u), out[k++] = __mul64hi(-1, 5);
  out[k++] = __umulhi(0xffffffffu, 2u), out[k++] = (long long)__umul64hi(~0ull, 4ull);
  out[k++] = __hadd(2147483647, 1), out[k++] = __rhadd(2, 3), out[k++] = __uhadd(~0u, 1u);
  out[k++] = __urhadd(2u, 3u), out[k++] = __sad(-2147483647, 2147483647, 1u);
  out[k++] = __usad(3u, 9u, 1u), out[k++] = __dp4a(0x01ff02fe, 0x02030405, 10);
  out[k++] = __dp4a(0x01ff02feu, 0x02030405u, 10u), out[k++] = __dp2a_lo(0x0003ffff, 0x01020304, 5);
  out[k++] = __dp2a_hi(0x0003ffff, 0x01020304, 5);
  out[k++] = __dp4a(make_char4(1, 2, 3, -4), make_char4(1, 1, 1, 1), 1);
  out[k++] = __fns(0x16u, 0, 2), out[k++] = __fns(0x16u, 4, -2), out[k++] = __fns(0x16u, 0, 4);
  out[k++] = __viaddmax_s32(2147483647, 1, -9), out[k++] = __vimax3_u32(1u, 9u, 4u);
  out[k++] = __vimin3_s32_relu(-1, 5, 4), out[k++] = __viaddmin_u16x2(0x00010002u, 0x00010001u, 0x00030001u);
  bool first = false, high = false, low = false;
  out[k++] = __vibmax_s32(3, 3, &first);
  out[k++] = first;
  out[k++] = __vibmin_u16x2(0x00010009u, 0x00020003u, &high, &low);
  out[k++] = high * 10 + low;
  out[k++] = __vimax_s16x2_relu(0xffff0003u, 0xfffe0001u);
  out[k++] = __nv_bswap32(0x01020304u);
  out[k++] = __double2hiint(1.0), out[k++] = __double2loint(__hiloint2double(5, 6));
  const double3 d3 = make_double3(1, 2, 3);
  const ulonglong2 l2 = make_ulonglong2(4, 5);
  const uchar4 c4 = make_uchar4(255, 2, 3, 4);
  const short3 s3 = make_short3(-1, 2, 3);
  const float1 f1 = make_float1(7);
  const dim3 extent(2, 3), other = make_uint3(4, 5, 6);
  out[k++] = (long long)(d3.z + l2.y + c4.x + s3.x + f1.x + extent.x * extent.y * extent.z + other.z);
  out[k++] = sizeof(float3) * 10000 + alignof(float4) * 100 + alignof(double2);
  out[k++] = alignof(char2) * 1000 + alignof(short4) * 100 + alignof(int2) * 10 + alignof(uchar4);
  out[k++] = sizeof(longlong4) * 100 + alignof(double4_32a);
  out[k++] = sizeof(dim3) + alignof(ushort2) * 100 + alignof(ulonglong2) * 1000;
}
extern "C" void facts(long long* out) { facts_kernel<<<1, 1>>>(out); }

// Two tiles in turn, copied in the background while the other one is summed up.
__global__ void pipeline_kernel(const float4* x, float* out, int tiles) {
  __shared__ float4 tile[2][32];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &x[t], 16);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &x[32 * (i + 1) + t], 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 v = tile[i % 2][31 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[t] = sum;
}
extern "C" void pipeline(const void* x, float* out, int tiles) {
  pipeline_kernel<<<1, 32>>>((const float4*)x, out, tiles);
}

__global__ void hints_kernel(const int4* x, int4* y, const double* d, double* e) {
  __builtin_assume(x != nullptr);
  const int t = threadIdx.x;
  int4 a = __ldg(x + t), b = __ldcs(x + t), c = __ldca(x + t);
  const int4 v = make_int4(a.x + b.x, c.y, __ldcg(&x[t].z), __ldlu(&x[t].w) + __ldcv(&x[t].w));
  __stcs(y + t, v);
  __stwb(e + t, __ldg(d + t) + 1);
  __stcg(e + 32 + t, 2);
  __threadfence_block();
  __threadfence_system();
  __nanosleep(10);
  if (clock64() < 0 || clock() < 0) __trap();
}
extern "C" void hints(const void* x, void* y, const double* d, double* e) {
  hints_kernel<<<1, 32>>>((const int4*)x, (int4*)y, d, e);
}
