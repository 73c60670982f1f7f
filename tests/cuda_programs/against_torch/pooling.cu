// The largest value of each window and its place, and the mean of each window.
__global__ void max_pool_kernel(const float* x, float* out, long long* places, int height,
                                int width, int size, int stride) {
  const int out_width = (width - size) / stride + 1, out_height = (height - size) / stride + 1;
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= out_width || row >= out_height) return;
  const float* const plane = x + blockIdx.z * height * width;
  int best = row * stride * width + column * stride;
  for (int y = 0; y < size; ++y)
    for (int s = 0; s < size; ++s) {
      const int place = (row * stride + y) * width + column * stride + s;
      if (plane[place] > plane[best]) best = place;
    }
  const int i = (blockIdx.z * out_height + row) * out_width + column;
  out[i] = plane[best];
  places[i] = best;
}

__global__ void mean_pool_kernel(const float* x, float* out, int height, int width, int size) {
  const int out_width = width / size, out_height = height / size;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= out_height * out_width) return;
  float sum = 0;
  for (int k = 0; k < size * size; ++k)
    sum += x[(blockIdx.y * height + i / out_width * size + k / size) * width +
             i % out_width * size + k % size];
  out[blockIdx.y * out_height * out_width + i] = sum / (size * size);
}

extern "C" void max_pool(const float* x, float* out, long long* places, int planes, int height,
                         int width, int size, int stride) {
  const int out_width = (width - size) / stride + 1, out_height = (height - size) / stride + 1;
  max_pool_kernel<<<dim3((out_width + 7) / 8, (out_height + 7) / 8, planes), dim3(8, 8)>>>(
      x, out, places, height, width, size, stride);
}
extern "C" void mean_pool(const float* x, float* out, int planes, int height, int width, int size) {
  mean_pool_kernel<<<dim3((height / size * (width / size) + 63) / 64, planes), 64>>>(x, out, height,
                                                                                     width, size);
}
