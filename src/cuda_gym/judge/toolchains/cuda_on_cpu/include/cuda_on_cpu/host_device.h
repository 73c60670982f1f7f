// The device: one, with the limits of a GPU of compute capability 9.0, and a multiprocessor for every
// OS thread that runs blocks. What a GPU is built of (clocks, buses, registers) has plausible values.
#pragma once

#include "host_types.h"

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX,
  cudaDevAttrMaxBlockDimY,
  cudaDevAttrMaxBlockDimZ,
  cudaDevAttrMaxGridDimX,
  cudaDevAttrMaxGridDimY,
  cudaDevAttrMaxGridDimZ,
  cudaDevAttrMaxSharedMemoryPerBlock,
  cudaDevAttrTotalConstantMemory,
  cudaDevAttrWarpSize,
  cudaDevAttrMaxPitch,
  cudaDevAttrMaxRegistersPerBlock,
  cudaDevAttrClockRate,
  cudaDevAttrTextureAlignment,
  cudaDevAttrGpuOverlap,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrKernelExecTimeout,
  cudaDevAttrIntegrated,
  cudaDevAttrCanMapHostMemory,
  cudaDevAttrComputeMode,
  cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels,
  cudaDevAttrEccEnabled,
  cudaDevAttrPciBusId,
  cudaDevAttrPciDeviceId,
  cudaDevAttrTccDriver,
  cudaDevAttrMemoryClockRate,
  cudaDevAttrGlobalMemoryBusWidth,
  cudaDevAttrL2CacheSize,
  cudaDevAttrMaxThreadsPerMultiProcessor,
  cudaDevAttrAsyncEngineCount,
  cudaDevAttrUnifiedAddressing,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrTexturePitchAlignment,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported,
  cudaDevAttrLocalL1CacheSupported,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrMaxRegistersPerMultiprocessor,
  cudaDevAttrManagedMemory,
  cudaDevAttrIsMultiGpuBoard,
  cudaDevAttrMultiGpuBoardGroupID,
  cudaDevAttrHostNativeAtomicSupported,
  cudaDevAttrSingleToDoublePrecisionPerfRatio,
  cudaDevAttrPageableMemoryAccess,
  cudaDevAttrConcurrentManagedAccess,
  cudaDevAttrComputePreemptionSupported,
  cudaDevAttrCanUseHostPointerForRegisteredMem,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrCanFlushRemoteWrites,
  cudaDevAttrHostRegisterSupported,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables,
  cudaDevAttrDirectManagedMemAccessFromHost,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrClusterLaunch = 120,
  cudaDevAttrMax = 148
};

struct cudaUUID_t {
  char bytes[16];
};
// The fields of CUDA 12 and 13 together: sources are written for either.
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
  int computeMode;
  int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
  int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
  int cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, memoryPoolsSupported, clusterLaunch, unifiedFunctionPointers;
};

extern "C" {
int cuda_on_cpu_last_error(int clear);
int cuda_on_cpu_num_threads(void);
cudaError_t cuda_on_cpu_set_function_attribute(cudaFuncAttribute attribute, int value);
cudaError_t cuda_on_cpu_function_attributes(cudaFuncAttributes* attributes);
cudaError_t cuda_on_cpu_max_active_blocks(int* num_blocks, int block_size, size_t shared_bytes);

cudaError_t cudaGetLastError(void) CUDA_ON_CPU_NAMED(cudaGetLastError);
cudaError_t cudaPeekAtLastError(void) CUDA_ON_CPU_NAMED(cudaPeekAtLastError);
const char* cudaGetErrorName(cudaError_t error) CUDA_ON_CPU_NAMED(cudaGetErrorName);
const char* cudaGetErrorString(cudaError_t error) CUDA_ON_CPU_NAMED(cudaGetErrorString);

cudaError_t cudaGetDeviceCount(int* count) CUDA_ON_CPU_NAMED(cudaGetDeviceCount);
cudaError_t cudaGetDevice(int* device) CUDA_ON_CPU_NAMED(cudaGetDevice);
cudaError_t cudaSetDevice(int device) CUDA_ON_CPU_NAMED(cudaSetDevice);
cudaError_t cudaSetDeviceFlags(unsigned flags) CUDA_ON_CPU_NAMED(cudaSetDeviceFlags);
cudaError_t cudaGetDeviceFlags(unsigned* flags) CUDA_ON_CPU_NAMED(cudaGetDeviceFlags);
cudaError_t cudaDeviceSynchronize(void) CUDA_ON_CPU_NAMED(cudaDeviceSynchronize);
cudaError_t cudaDeviceReset(void) CUDA_ON_CPU_NAMED(cudaDeviceReset);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
    CUDA_ON_CPU_NAMED(cudaDeviceGetAttribute);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
    CUDA_ON_CPU_NAMED(cudaGetDeviceProperties);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted)
    CUDA_ON_CPU_NAMED(cudaChooseDevice);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device)
    CUDA_ON_CPU_NAMED(cudaDeviceGetPCIBusId);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) CUDA_ON_CPU_NAMED(cudaDeviceGetLimit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) CUDA_ON_CPU_NAMED(cudaDeviceSetLimit);
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer)
    CUDA_ON_CPU_NAMED(cudaDeviceCanAccessPeer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
    CUDA_ON_CPU_NAMED(cudaDeviceEnablePeerAccess);
cudaError_t cudaDeviceDisablePeerAccess(int peer) CUDA_ON_CPU_NAMED(cudaDeviceDisablePeerAccess);
cudaError_t cudaRuntimeGetVersion(int* version) CUDA_ON_CPU_NAMED(cudaRuntimeGetVersion);
cudaError_t cudaDriverGetVersion(int* version) CUDA_ON_CPU_NAMED(cudaDriverGetVersion);
}

// Settings that a processor has no use for
CUDA_ON_CPU_INLINE cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return cudaSetDevice(device);
}
CUDA_ON_CPU_INLINE cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
CUDA_ON_CPU_INLINE cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
CUDA_ON_CPU_INLINE cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preferred) {
  return *preferred = cudaFuncCachePreferNone, cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* width) {
  return *width = cudaSharedMemBankSizeFourByte, cudaSuccess;
}
CUDA_ON_CPU_INLINE cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaProfilerStart() { return cudaSuccess; }
CUDA_ON_CPU_INLINE cudaError_t cudaProfilerStop() { return cudaSuccess; }

// Kernels

template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaFuncSetAttribute(Function*, cudaFuncAttribute attribute,
                                                    int value) {
  return cuda_on_cpu_set_function_attribute(attribute, value);
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function*) {
  return cuda_on_cpu_function_attributes(attributes);
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaFuncSetCacheConfig(Function*, cudaFuncCache) {
  return cudaSuccess;
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaFuncSetSharedMemConfig(Function*, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* num_blocks,
                                                                             Function*, int size,
                                                                             size_t shared_bytes) {
  return cuda_on_cpu_max_active_blocks(num_blocks, size, shared_bytes);
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* num_blocks, Function*, int size, size_t shared_bytes, unsigned) {
  return cuda_on_cpu_max_active_blocks(num_blocks, size, shared_bytes);
}
// The largest block that keeps the most threads of a multiprocessor busy; as on a GPU of few registers.
template <class Function, class SharedBytes>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Function*,
                                                                  SharedBytes shared_bytes,
                                                                  int limit = 0) {
  if (!grid || !block) return cudaErrorInvalidValue;
  int most = 0;
  *block = *grid = 0;
  for (int size = limit > 0 && limit < 1024 ? limit : 1024; size > 0; size -= size % 32 ? size % 32 : 32) {
    int num_blocks = 0;
    if (cudaError_t error = cuda_on_cpu_max_active_blocks(&num_blocks, size, shared_bytes(size)))
      return error;
    if (num_blocks * size <= most) continue;
    most = num_blocks * size;
    *block = size;
    *grid = num_blocks * cuda_on_cpu_num_threads();
  }
  return cudaSuccess;
}
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* function,
                                                      size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, function, [=](int) { return shared_bytes; }, limit);
}
template <class Function, class SharedBytes>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* grid, int* block, Function* function, SharedBytes shared_bytes, int limit = 0,
    unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, function, shared_bytes, limit);
}
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block,
                                                               Function* function,
                                                               size_t shared_bytes = 0,
                                                               int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, function, shared_bytes, limit);
}
template <class Function>
CUDA_ON_CPU_INLINE cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Function*,
                                                                         int num_blocks, int) {
  if (num_blocks < 1) return cudaErrorInvalidValue;
  const size_t share = (228u << 10) / num_blocks - 1024;
  return *bytes = share < (227u << 10) ? share : (227u << 10), cudaSuccess;
}
