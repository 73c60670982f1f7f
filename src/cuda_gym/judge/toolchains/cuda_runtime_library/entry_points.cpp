// What the runtime looks up in the driver for a submission: all but what loads machine code that the
// judge has not compiled, or looks up anything else. Asked for that, it gives an error and no function.

#include <cuda_runtime_api.h>

#include <cstring>

#define HIDDEN __attribute__((visibility("hidden")))
#define MAYBE __attribute__((weak))

namespace {

const char* const refused[] = {"cuModuleLoad", "cuLibraryLoad", "cuLink", "cuGetProcAddress"};

bool is_refused(const char* name, void** function) {
  for (const char* beginning : refused) {
    if (!name || strncmp(name, beginning, strlen(beginning))) continue;
    if (function) *function = nullptr;
    return true;
  }
  return false;
}

}  // namespace

// The last argument is where the runtime tells whether there is such a function.
#define WRAP(name)                                                                              \
  MAYBE cudaError_t __real_##name(const char*, void**, unsigned long long, void*);              \
  HIDDEN cudaError_t __wrap_##name(const char* asked, void** function, unsigned long long flags, \
                                   void* found) {                                               \
    if (is_refused(asked, function)) return cudaErrorNotPermitted;                              \
    return __real_##name(asked, function, flags, found);                                        \
  }
#define WRAP_VERSIONED(name)                                                                    \
  MAYBE cudaError_t __real_##name(const char*, void**, unsigned, unsigned long long, void*);    \
  HIDDEN cudaError_t __wrap_##name(const char* asked, void** function, unsigned version,        \
                                   unsigned long long flags, void* found) {                     \
    if (is_refused(asked, function)) return cudaErrorNotPermitted;                              \
    return __real_##name(asked, function, version, flags, found);                               \
  }

extern "C" {

WRAP(cudaGetDriverEntryPoint)
WRAP(cudaGetDriverEntryPoint_ptsz)
WRAP_VERSIONED(cudaGetDriverEntryPointByVersion)
WRAP_VERSIONED(cudaGetDriverEntryPointByVersion_ptsz)

}  // extern "C"
