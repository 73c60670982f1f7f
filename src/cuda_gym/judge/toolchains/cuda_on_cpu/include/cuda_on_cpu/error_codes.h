// Every error that a call of the CUDA runtime may return: its name, its number and what it says. Most
// never happen here; programs compare with them and print them all the same.
#pragma once

#define CUDA_ON_CPU_ERRORS(ERROR)                                                                 \
  ERROR(cudaSuccess, 0, "no error")                                                               \
  ERROR(cudaErrorInvalidValue, 1, "invalid argument")                                             \
  ERROR(cudaErrorMemoryAllocation, 2, "out of memory")                                            \
  ERROR(cudaErrorInitializationError, 3, "initialization error")                                  \
  ERROR(cudaErrorCudartUnloading, 4, "driver shutting down")                                      \
  ERROR(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")    \
  ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                       \
  ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                 \
  ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                      \
  ERROR(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                  \
  ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                              \
  ERROR(cudaErrorInvalidTexture, 18, "invalid texture reference")                                 \
  ERROR(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                  \
  ERROR(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                      \
  ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                 \
  ERROR(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")   \
  ERROR(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type") \
  ERROR(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                                \
  ERROR(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
  ERROR(cudaErrorCallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver") \
  ERROR(cudaErrorInvalidSurface, 37, "invalid surface reference")                                 \
  ERROR(cudaErrorDuplicateVariableName, 43, "duplicate global variable looked up by string name") \
  ERROR(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")          \
  ERROR(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")          \
  ERROR(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")     \
  ERROR(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                    \
  ERROR(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")          \
  ERROR(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches") \
  ERROR(cudaErrorSyncDepthExceeded, 68, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth") \
  ERROR(cudaErrorLaunchPendingCountExceeded, 69, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount") \
  ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                            \
  ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                             \
  ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                    \
  ERROR(cudaErrorDeviceNotLicensed, 102, "device doesn't have valid Grid license")                \
  ERROR(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                          \
  ERROR(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                       \
  ERROR(cudaErrorDeviceUninitialized, 201, "invalid device context")                              \
  ERROR(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                   \
  ERROR(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")               \
  ERROR(cudaErrorArrayIsMapped, 207, "array is mapped")                                           \
  ERROR(cudaErrorAlreadyMapped, 208, "resource already mapped")                                   \
  ERROR(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  ERROR(cudaErrorAlreadyAcquired, 210, "resource already acquired")                               \
  ERROR(cudaErrorNotMapped, 211, "resource not mapped")                                           \
  ERROR(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                    \
  ERROR(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")            \
  ERROR(cudaErrorDeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread") \
  ERROR(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices") \
  ERROR(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                 \
  ERROR(cudaErrorInvalidSource, 300, "device kernel image is invalid")                            \
  ERROR(cudaErrorFileNotFound, 301, "file not found")                                             \
  ERROR(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")    \
  ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                           \
  ERROR(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")     \
  ERROR(cudaErrorSymbolNotFound, 500, "named symbol not found")                                   \
  ERROR(cudaErrorNotReady, 600, "device not ready")                                               \
  ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                 \
  ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")            \
  ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                   \
  ERROR(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")     \
  ERROR(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                 \
  ERROR(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                   \
  ERROR(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")    \
  ERROR(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                 \
  ERROR(cudaErrorAssert, 710, "device-side assert triggered")                                     \
  ERROR(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                           \
  ERROR(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  ERROR(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  ERROR(cudaErrorHardwareStackError, 714, "hardware stack error")                                 \
  ERROR(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")               \
  ERROR(cudaErrorMisalignedAddress, 716, "misaligned address")                                    \
  ERROR(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
  ERROR(cudaErrorInvalidPc, 718, "invalid program counter")                                       \
  ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                \
  ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")         \
  ERROR(cudaErrorNotPermitted, 800, "operation not permitted")                                    \
  ERROR(cudaErrorNotSupported, 801, "operation not supported")                                    \
  ERROR(cudaErrorSystemNotReady, 802, "system not yet initialized")                               \
  ERROR(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination") \
  ERROR(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  ERROR(cudaErrorTimeout, 909, "wait operation timed out")                                        \
  ERROR(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define CUDA_ON_CPU_ERROR(name, number, text) name = number,
  CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR)
#undef CUDA_ON_CPU_ERROR
};
typedef enum cudaError cudaError_t;
