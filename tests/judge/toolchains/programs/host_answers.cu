// What a GPU answers to host code, call by call.
#include <cuda_profiler_api.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int num_wrong = 0;

#define GIVES(call, expected)                                                             \
  do {                                                                                    \
    cudaError_t given = (call);                                                           \
    if (given != (expected)) {                                                            \
      printf("line %d: %s gives %s\n", __LINE__, #call, cudaGetErrorName(given));         \
      ++num_wrong;                                                                        \
    }                                                                                     \
  } while (0)
#define WORKS(call) GIVES(call, cudaSuccess)
#define HOLDS(fact)                                      \
  do {                                                   \
    if (!(fact)) {                                       \
      printf("line %d: not %s\n", __LINE__, #fact);      \
      ++num_wrong;                                       \
    }                                                    \
  } while (0)

struct State {
  int a[4];
};
__constant__ float table[8];
__device__ int counter;
__device__ State state;
__managed__ int seen_by_both = 3;
__global__ void add_table(float* x) {
  x[threadIdx.x] = table[threadIdx.x] + threadIdx.x;
  atomicAdd(&counter, 1);
  if (threadIdx.x == 0) seen_by_both += 1;
}
__global__ void needs_shared() {
  extern __shared__ char bytes[];
  bytes[threadIdx.x] = 1;
}

static void allocations() {
  float *d = nullptr, *again;
  void* v = nullptr;
  int host[8];
  size_t free_bytes = 0, total = 0;
  WORKS(cudaMalloc(&d, 8 * sizeof(float)));
  HOLDS(reinterpret_cast<size_t>(d) % 256 == 0);
  GIVES(cudaMalloc(&v, (size_t)-1), cudaErrorMemoryAllocation);
  GIVES(cudaGetLastError(), cudaErrorMemoryAllocation);
  WORKS(cudaGetLastError());
  GIVES(cudaMalloc(&v, (size_t)1 << 50), cudaErrorMemoryAllocation);
  GIVES(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  GIVES(cudaGetLastError(), cudaErrorMemoryAllocation);
  v = &v;
  WORKS(cudaMalloc(&v, 0));
  HOLDS(v == nullptr);
  GIVES(cudaMalloc((void**)nullptr, 4), cudaErrorInvalidValue);
  WORKS(cudaFree(nullptr));
  GIVES(cudaFree(host), cudaErrorInvalidValue);
  GIVES(cudaFree(d + 1), cudaErrorInvalidValue);
  WORKS(cudaMalloc(&again, 4));
  WORKS(cudaFree(again));
  GIVES(cudaFree(again), cudaErrorInvalidValue);
  GIVES(cudaFreeHost(d), cudaErrorInvalidValue);
  WORKS(cudaMemGetInfo(&free_bytes, &total));
  HOLDS(free_bytes > 0 && free_bytes <= total);
  WORKS(cudaFree(d));
  cudaGetLastError();
}

static void pitched_memory() {
  char *p, rows[700], cube[96];
  size_t pitch = 0;
  WORKS(cudaMallocPitch(&p, &pitch, 100, 7));
  HOLDS(pitch >= 100 && pitch % 32 == 0);
  WORKS(cudaMemset2D(p, pitch, 1, 100, 7));
  WORKS(cudaMemcpy2D(rows, 100, p, pitch, 100, 7, cudaMemcpyDeviceToHost));
  HOLDS(rows[699] == 1);
  GIVES(cudaMemcpy2D(rows, 10, p, pitch, 100, 7, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  WORKS(cudaFree(p));
  cudaPitchedPtr box;
  WORKS(cudaMalloc3D(&box, make_cudaExtent(16, 3, 2)));
  WORKS(cudaMemset3D(box, 5, make_cudaExtent(16, 3, 2)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(cube, 16, 16, 3);
  copy.extent = make_cudaExtent(16, 3, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  WORKS(cudaMemcpy3D(&copy));
  HOLDS(cube[0] == 5 && cube[95] == 5);
  WORKS(cudaFree(box.ptr));
  cudaGetLastError();
}

static void host_memory() {
  float *device, *pinned, *mapped, *managed, *seen;
  int host[8];
  WORKS(cudaMalloc(&device, 64));
  WORKS(cudaMallocHost(&pinned, 64));
  WORKS(cudaHostAlloc(reinterpret_cast<void**>(&mapped), 64, cudaHostAllocMapped));
  WORKS(cudaHostGetDevicePointer(&seen, mapped, 0));
  WORKS(cudaMallocManaged(&managed, 64));
  GIVES(cudaFree(pinned), cudaErrorInvalidValue);
  cudaPointerAttributes about;
  WORKS(cudaPointerGetAttributes(&about, device + 3));
  HOLDS(about.type == cudaMemoryTypeDevice && about.device == 0);
  WORKS(cudaPointerGetAttributes(&about, pinned));
  HOLDS(about.type == cudaMemoryTypeHost);
  WORKS(cudaPointerGetAttributes(&about, managed));
  HOLDS(about.type == cudaMemoryTypeManaged);
  WORKS(cudaPointerGetAttributes(&about, host));
  HOLDS(about.type == cudaMemoryTypeUnregistered);
  WORKS(cudaFreeHost(pinned));
  WORKS(cudaFreeHost(mapped));
  WORKS(cudaFree(managed));
  WORKS(cudaFree(device));
  std::vector<float> own(100);
  WORKS(cudaHostRegister(own.data(), 400, cudaHostRegisterDefault));
  GIVES(cudaHostRegister(own.data(), 400, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
  WORKS(cudaHostUnregister(own.data()));
  GIVES(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
}

static void copies() {
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {}, *d;
  WORKS(cudaMalloc(&d, 32));
  WORKS(cudaMemcpy(d, in, 32, cudaMemcpyHostToDevice));
  GIVES(cudaMemcpy(d, in, 36, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  WORKS(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  GIVES(cudaMemcpy(d, in, 32, (cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
  GIVES(cudaMemcpy(out, d, 32, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(d, in, 32, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(out, in, 32, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  WORKS(cudaMemcpy(out, d, 32, cudaMemcpyDefault));
  HOLDS(memcmp(in, out, 32) == 0);
  WORKS(cudaMemcpyAsync(out, d + 7, 4, cudaMemcpyDeviceToHost, 0));
  GIVES(cudaMemcpyPeer(d, 0, d, 1, 4), cudaErrorInvalidDevice);
  GIVES(cudaMemset(d, 0, 33), cudaErrorInvalidValue);
  GIVES(cudaMemset(in, 0, 4), cudaErrorInvalidValue);
  WORKS(cudaMemset(d, 0xff, 32));
  WORKS(cudaFree(d));
  cudaGetLastError();
}

static void symbols() {
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out = 0, *place;
  State value = {{1, 2, 3, 4}}, back;
  size_t bytes = 0;
  WORKS(cudaMemcpyToSymbol(table, in, 32));
  GIVES(cudaMemcpyToSymbol(table, in, 8, 28), cudaErrorInvalidValue);
  WORKS(cudaMemcpyToSymbolAsync(state, &value, 16, 0, cudaMemcpyHostToDevice, 0));
  WORKS(cudaMemcpyFromSymbol(&back, state, 16));
  HOLDS(back.a[3] == 4);
  WORKS(cudaGetSymbolAddress(reinterpret_cast<void**>(&place), table));
  WORKS(cudaGetSymbolSize(&bytes, table));
  HOLDS(bytes == 32);
  WORKS(cudaMemcpy(&out, place + 1, 4, cudaMemcpyDeviceToHost));
  HOLDS(out == 2);
  cudaGetLastError();
}

static void launches() {
  float out[8], *d;
  int count = 0;
  WORKS(cudaMalloc(&d, 32));
  add_table<<<1, 8>>>(d);
  WORKS(cudaGetLastError());
  WORKS(cudaDeviceSynchronize());
  WORKS(cudaMemcpy(out, d, 32, cudaMemcpyDeviceToHost));
  HOLDS(out[7] == 15);
  WORKS(cudaMemcpyFromSymbol(&count, counter, 4));
  HOLDS(count == 8 && seen_by_both == 4);
  add_table<<<1, 2000>>>(d);
  WORKS(cudaDeviceSynchronize());
  GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
  WORKS(cudaGetLastError());
  add_table<<<0, 32>>>(d);
  GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
  add_table<<<dim3(1, 70000), 32>>>(d);
  GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
  add_table<<<0x80000000u, 32>>>(d);
  GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
  add_table<<<1, dim3(1, 1, 65)>>>(d);
  GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
  needs_shared<<<1, 32, 60 << 10>>>();
  GIVES(cudaGetLastError(), cudaErrorInvalidValue);
  constexpr auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  GIVES(cudaFuncSetAttribute(needs_shared, attribute, 228 << 10), cudaErrorInvalidValue);
  cudaGetLastError();
  WORKS(cudaFuncSetAttribute(needs_shared, attribute, 100 << 10));
  needs_shared<<<1, 32, 100 << 10>>>();
  WORKS(cudaGetLastError());
  WORKS(cudaFree(d));
}

static int called = 0;
static void CUDART_CB on_host(void* data) { called += *static_cast<int*>(data); }
static void CUDART_CB on_stream(cudaStream_t, cudaError_t status, void* data) {
  called += status == cudaSuccess ? *static_cast<int*>(data) : 100;
}

static void streams_and_events() {
  cudaStream_t stream;
  cudaEvent_t start, stop, untimed;
  float ms = -1;
  unsigned flags = 0;
  int priority = 9, least, greatest, two = 2;
  WORKS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  WORKS(cudaStreamGetFlags(stream, &flags));
  HOLDS(flags == cudaStreamNonBlocking);
  WORKS(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  HOLDS(least == 0 && greatest < 0);
  WORKS(cudaStreamGetPriority(stream, &priority));
  HOLDS(priority == 0);
  WORKS(cudaEventCreate(&start));
  WORKS(cudaEventCreateWithFlags(&stop, cudaEventDefault));
  WORKS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  GIVES(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  WORKS(cudaEventRecord(start, stream));
  needs_shared<<<1, 32, 32, stream>>>();
  WORKS(cudaEventRecord(stop, stream));
  WORKS(cudaEventRecord(untimed, stream));
  WORKS(cudaEventSynchronize(stop));
  WORKS(cudaEventElapsedTime(&ms, start, stop));
  HOLDS(ms >= 0 && ms < 1000);
  GIVES(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
  WORKS(cudaEventQuery(stop));
  WORKS(cudaStreamWaitEvent(stream, stop, 0));
  WORKS(cudaLaunchHostFunc(stream, on_host, &two));
  WORKS(cudaStreamAddCallback(stream, on_stream, &two, 0));
  WORKS(cudaStreamSynchronize(stream));
  HOLDS(called == 4);
  WORKS(cudaStreamQuery(stream));
  WORKS(cudaStreamDestroy(stream));
  for (cudaEvent_t event : {start, stop, untimed}) WORKS(cudaEventDestroy(event));
  GIVES(cudaEventRecord(nullptr, 0), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

static void the_device() {
  int count = 0, value = 0, can = 1;
  size_t limit = 0;
  cudaDeviceProp properties;
  WORKS(cudaGetDeviceCount(&count));
  HOLDS(count >= 1);
  WORKS(cudaSetDevice(0));
  GIVES(cudaSetDevice(count), cudaErrorInvalidDevice);
  GIVES(cudaGetDeviceProperties(&properties, count), cudaErrorInvalidDevice);
  WORKS(cudaGetDeviceProperties(&properties, 0));
  HOLDS(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
  WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  HOLDS(value == (int)properties.sharedMemPerBlockOptin);
  GIVES(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0), cudaErrorInvalidValue);
  WORKS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  WORKS(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  HOLDS(limit >= 64 << 20);
  WORKS(cudaRuntimeGetVersion(&value));
  HOLDS(value >= 12000);
  WORKS(cudaDriverGetVersion(&value));
  WORKS(cudaDeviceCanAccessPeer(&can, 0, 0));
  HOLDS(!can);
  WORKS(cudaProfilerStart());
  cudaGetLastError();
}

static void kernels() {
  cudaFuncAttributes attributes;
  int blocks = 0, grid = 0, block = 0;
  WORKS(cudaFuncGetAttributes(&attributes, add_table));
  HOLDS(attributes.maxThreadsPerBlock == 1024);
  WORKS(cudaFuncSetCacheConfig(add_table, cudaFuncCachePreferL1));
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_table, 256, 0));
  HOLDS(blocks == 8);
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_table, 256, 100 << 10));
  HOLDS(blocks == 2);
  WORKS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add_table, 0, 0));
  HOLDS(block == 1024 && grid > 0);
  auto shared_bytes = [] __host__ __device__(int threads) -> size_t { return threads * 400; };
  WORKS(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, add_table, shared_bytes));
  HOLDS(block > 0 && block * 400 <= 227 << 10);
  HOLDS(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
  HOLDS(!strcmp(cudaGetErrorString(cudaErrorNoDevice), "no CUDA-capable device is detected"));
  HOLDS(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
}

int main() {
  allocations();
  pitched_memory();
  host_memory();
  copies();
  symbols();
  launches();
  streams_and_events();
  the_device();
  kernels();
  WORKS(cudaDeviceReset());
  if (num_wrong == 0) puts("ok");
  return num_wrong;
}
