// Kernels by name. The compiler registers every kernel when a library is loaded; the runtime itself
// tells names only since CUDA 12.3, and not of a kernel that it cannot load.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>

namespace launch_recorder {

class KernelNames {
 public:
  // Called while the library is loaded: nothing here may need a constructor that has not run.
  void add(const void* function, const char* name) {
    std::lock_guard<std::mutex> hold(lock_);
    if (num_kernels_ < most_kernels) kernels_[num_kernels_++] = {function, nullptr, name};
  }

  void add_handle(const void* function, const void* handle) {
    std::lock_guard<std::mutex> hold(lock_);
    for (unsigned i = 0; i < num_kernels_; ++i)
      if (kernels_[i].function == function) kernels_[i].handle = handle;
  }

  // The symbol of a kernel, by its function or its handle.
  const char* name_of(const void* kernel) {
    if (!kernel) return "CUDA graph";
    const Kernel* const found = find(kernel);
    return found ? found->name : "?";
  }

  // What the runtime's questions about a kernel take in every version.
  const void* function_of(const void* kernel) {
    const Kernel* const found = find(kernel);
    return found ? found->function : kernel;
  }

 private:
  struct Kernel {
    const void* function;
    const void* handle;
    const char* name;
  };

  const Kernel* find(const void* kernel) {
    std::lock_guard<std::mutex> hold(lock_);
    for (unsigned i = 0; i < num_kernels_; ++i)
      if (kernels_[i].function == kernel || kernels_[i].handle == kernel) return &kernels_[i];
    return nullptr;
  }

  // Beyond it kernels have no names.
  static constexpr unsigned most_kernels = 4096;

  std::mutex lock_;
  Kernel kernels_[most_kernels] = {};
  unsigned num_kernels_ = 0;
};

extern KernelNames kernel_names;

}  // namespace launch_recorder
