// relu(x * scale + shift), with scale and shift worked out once for each plane: neighbouring threads on
// neighbouring pixels of a channel of an image.
#include <cuda_runtime.h>

// What is no number stays none, which fmaxf would turn into 0.
__device__ __forceinline__ float relu(float value) { return value < 0.0f ? 0.0f : value; }

__global__ void batch_norm_relu_kernel(float* __restrict__ out, const float* __restrict__ x,
                                       const float* __restrict__ mean,
                                       const float* __restrict__ variance,
                                       const float* __restrict__ weight,
                                       const float* __restrict__ bias, int channels, int pixels,
                                       float eps) {
    const int channel = blockIdx.y;
    const float scale = weight[channel] / sqrtf(variance[channel] + eps);
    const float shift = bias[channel] - mean[channel] * scale;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < pixels) {
        const size_t i = ((size_t)blockIdx.z * channels + channel) * pixels + pixel;
        out[i] = relu(x[i] * scale + shift);
    }
}

extern "C" void batch_norm_relu(float* out, const float* x, const float* mean,
                                const float* variance, const float* weight, const float* bias,
                                int batch, int channels, int pixels, float eps,
                                cudaStream_t stream) {
    const int threads = 1024;
    const dim3 blocks((pixels + threads - 1) / threads, channels, batch);
    batch_norm_relu_kernel<<<blocks, threads, 0, stream>>>(out, x, mean, variance, weight, bias,
                                                           channels, pixels, eps);
}
