// What a program asks about the device, and about its kernels.

#include "../include/cuda_on_cpu/host_device.h"

#include <cstdio>
#include <cstring>

#include "memory.h"
#include "runtime.h"

extern "C" int cuda_on_cpu_allow_dynamic_shared(int bytes);
extern "C" int cuda_on_cpu_dynamic_shared_limit(void);

using namespace cuda_on_cpu;

namespace {

constexpr int shared_of_multiprocessor = 228 << 10;
constexpr int shared_of_block_optin = 227 << 10;
constexpr int shared_reserved = 1 << 10;
constexpr int threads_of_multiprocessor = 2048;
constexpr int most_blocks = 32;
constexpr int registers = 64 << 10;
constexpr int version = CUDART_VERSION;

size_t limits[] = {1024, 1 << 20, 8 << 20, 0, 2048, 64, 0};

cudaDeviceProp describe() {
  cudaDeviceProp p;
  memset(&p, 0, sizeof p);
  snprintf(p.name, sizeof p.name, "cpu");
  memcpy(p.uuid.bytes, "cuda_gym cpu", 12);
  p.totalGlobalMem = total_memory();
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerBlockOptin = shared_of_block_optin;
  p.sharedMemPerMultiprocessor = shared_of_multiprocessor;
  p.reservedSharedMemPerBlock = shared_reserved;
  p.totalConstMem = 64 << 10;
  p.regsPerBlock = p.regsPerMultiprocessor = registers;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.maxThreadsPerMultiProcessor = threads_of_multiprocessor;
  p.maxBlocksPerMultiProcessor = most_blocks;
  p.multiProcessorCount = cuda_on_cpu_num_threads();
  p.major = 9;
  p.clockRate = p.memoryClockRate = 1000000;
  p.memoryBusWidth = 64;
  p.l2CacheSize = 32 << 20;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.integrated = p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
  p.deviceOverlap = p.asyncEngineCount = p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = p.managedMemory = 1;
  p.pageableMemoryAccess = p.concurrentManagedAccess = p.hostNativeAtomicSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.directManagedMemAccessFromHost = 1;
  p.pageableMemoryAccessUsesHostPageTables = p.hostRegisterSupported = 1;
  p.unifiedFunctionPointers = 1;
  return p;
}

int value_of(const cudaDeviceProp& p, cudaDeviceAttr attribute, bool* is_known) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX: return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY: return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ: return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return (int)p.sharedMemPerBlock;
    case cudaDevAttrTotalConstantMemory: return (int)p.totalConstMem;
    case cudaDevAttrWarpSize: return p.warpSize;
    case cudaDevAttrMaxPitch: return (int)p.memPitch;
    case cudaDevAttrMaxRegistersPerBlock: return p.regsPerBlock;
    case cudaDevAttrClockRate: return p.clockRate;
    case cudaDevAttrTextureAlignment: return (int)p.textureAlignment;
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrMemoryClockRate: return p.memoryClockRate;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrComputeCapabilityMinor: return p.minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return (int)p.sharedMemPerMultiprocessor;
    case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return p.singleToDoublePrecisionPerfRatio;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (int)p.sharedMemPerBlockOptin;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrReservedSharedMemoryPerBlock: return (int)p.reservedSharedMemPerBlock;
    case cudaDevAttrIntegrated:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost: return 1;
    default: *is_known = attribute > 0 && attribute <= cudaDevAttrMax; return 0;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError(void) { return (cudaError_t)cuda_on_cpu_last_error(1); }
cudaError_t cudaPeekAtLastError(void) { return (cudaError_t)cuda_on_cpu_last_error(0); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define CUDA_ON_CPU_NAME(name, number, text) \
  case name: return #name;
    CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_NAME)
#undef CUDA_ON_CPU_NAME
  }
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define CUDA_ON_CPU_TEXT_OF(name, number, text) \
  case name: return text;
    CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_TEXT_OF)
#undef CUDA_ON_CPU_TEXT_OF
  }
  return "unrecognized error code";
}

cudaError_t cudaGetDeviceCount(int* count) {
  return count ? (*count = 1, cudaSuccess) : failed(cudaErrorInvalidValue);
}
cudaError_t cudaGetDevice(int* device) {
  return device ? (*device = 0, cudaSuccess) : failed(cudaErrorInvalidValue);
}
cudaError_t cudaSetDevice(int device) {
  return device ? failed(cudaErrorInvalidDevice) : (cudaError_t)sticky_error();
}
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return flags ? (*flags = cudaDeviceMapHost, cudaSuccess) : failed(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceSynchronize(void) { return (cudaError_t)sticky_error(); }
cudaError_t cudaDeviceReset(void) { return forget_errors(), cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device) return failed(cudaErrorInvalidDevice);
  bool is_known = true;
  const int found = value_of(describe(), attribute, &is_known);
  if (!value || !is_known) return failed(cudaErrorInvalidValue);
  return *value = found, cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device) return failed(cudaErrorInvalidDevice);
  if (!properties) return failed(cudaErrorInvalidValue);
  return *properties = describe(), cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (device) return failed(cudaErrorInvalidDevice);
  if (!text || length < 13) return failed(cudaErrorInvalidValue);
  snprintf(text, (size_t)length, "0000:00:00.0");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (!value) return failed(cudaErrorInvalidValue);
  if ((unsigned)limit > cudaLimitPersistingL2CacheSize) return failed(cudaErrorUnsupportedLimit);
  return *value = limits[limit], cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if ((unsigned)limit > cudaLimitPersistingL2CacheSize) return failed(cudaErrorUnsupportedLimit);
  return limits[limit] = value, cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (!can_access) return failed(cudaErrorInvalidValue);
  if (device || peer) return failed(cudaErrorInvalidDevice);
  return *can_access = 0, cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return failed(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return failed(peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled);
}
cudaError_t cudaRuntimeGetVersion(int* number) {
  return number ? (*number = version, cudaSuccess) : failed(cudaErrorInvalidValue);
}
cudaError_t cudaDriverGetVersion(int* number) { return cudaRuntimeGetVersion(number); }

cudaError_t cuda_on_cpu_set_function_attribute(cudaFuncAttribute attribute, int value) {
  if (attribute < cudaFuncAttributeMaxDynamicSharedMemorySize || attribute >= cudaFuncAttributeMax)
    return failed(cudaErrorInvalidValue);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout && (value < -1 || value > 100))
    return failed(cudaErrorInvalidValue);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize &&
      cuda_on_cpu_allow_dynamic_shared(value))
    return failed(cudaErrorInvalidValue);
  return cudaSuccess;
}
cudaError_t cuda_on_cpu_function_attributes(cudaFuncAttributes* attributes) {
  if (!attributes) return failed(cudaErrorInvalidValue);
  memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = cuda_on_cpu_dynamic_shared_limit();
  attributes->preferredShmemCarveout = -1;
  return cudaSuccess;
}
cudaError_t cuda_on_cpu_max_active_blocks(int* num_blocks, int block_size, size_t shared_bytes) {
  if (!num_blocks || block_size <= 0) return failed(cudaErrorInvalidValue);
  *num_blocks = 0;
  if (block_size > 1024 || shared_bytes > shared_of_block_optin) return cudaSuccess;
  const int by_threads = threads_of_multiprocessor / ((block_size + 31) / 32 * 32);
  const int by_shared = shared_of_multiprocessor / (int)(shared_bytes + shared_reserved);
  *num_blocks = by_threads < by_shared ? by_threads : by_shared;
  if (*num_blocks > most_blocks) *num_blocks = most_blocks;
  return cudaSuccess;
}

}  // extern "C"
