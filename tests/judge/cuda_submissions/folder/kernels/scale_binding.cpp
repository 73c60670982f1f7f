#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/types.h>

#include "../binding_registry.h"

extern "C" void scale_launcher(float* out, const float* x, const float* weight, int rows, int columns,
                               cudaStream_t stream);

static torch::Tensor scale_forward(torch::Tensor x, torch::Tensor weight) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    auto out = torch::empty_like(x);
    scale_launcher(out.data_ptr<float>(), x.data_ptr<float>(), weight.data_ptr<float>(),
                   static_cast<int>(x.size(0)), static_cast<int>(x.size(1)),
                   c10::cuda::getCurrentCUDAStream().stream());
    return out;
}

static void register_scale(pybind11::module& m) { m.def("scale_forward", &scale_forward); }

REGISTER_BINDING(scale, register_scale);
