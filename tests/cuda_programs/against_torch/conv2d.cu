// A two-dimensional convolution with bias, stride, padding, dilation and groups.
struct Window {
  int stride, padding, dilation, groups;
};

__global__ void conv2d_kernel(const float* x, const float* weight, const float* bias, float* out,
                              int channels, int height, int width, int features, int kernel,
                              int out_height, int out_width, Window window) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x, feature = blockIdx.y,
            image = blockIdx.z;
  if (position >= out_height * out_width) return;
  const int per_group = channels / window.groups,
            first = feature / (features / window.groups) * per_group;
  const int top = position / out_width * window.stride - window.padding;
  const int left = position % out_width * window.stride - window.padding;
  float sum = bias ? bias[feature] : 0.0f;
  for (int c = 0; c < per_group; ++c)
    for (int y = 0; y < kernel; ++y)
      for (int s = 0; s < kernel; ++s) {
        const int row = top + y * window.dilation, column = left + s * window.dilation;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        sum += x[((image * channels + first + c) * height + row) * width + column] *
               weight[((feature * per_group + c) * kernel + y) * kernel + s];
      }
  out[(image * features + feature) * out_height * out_width + position] = sum;
}

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int images, int channels, int height, int width, int features, int kernel,
                       int stride, int padding, int dilation, int groups) {
  const int reach = dilation * (kernel - 1) + 1;
  const int out_height = (height + 2 * padding - reach) / stride + 1,
            out_width = (width + 2 * padding - reach) / stride + 1;
  const dim3 grid((out_height * out_width + 63) / 64, features, images);
  conv2d_kernel<<<grid, 64>>>(x, weight, bias, out, channels, height, width, features, kernel,
                              out_height, out_width, Window{stride, padding, dilation, groups});
}
