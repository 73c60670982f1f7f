// Bilinear interpolation to another size, with the corners of pixels aligned or not.
__global__ void upsample_kernel(const float* x, float* out, int height, int width, int out_height,
                                int out_width, bool align) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= out_width || row >= out_height) return;
  auto source = [align](int i, int size, int out_size) {
    if (align) return out_size > 1 ? i * (size - 1.0f) / (out_size - 1.0f) : 0.0f;
    return fmaxf((i + 0.5f) * size / out_size - 0.5f, 0.0f);
  };
  const float y = source(row, height, out_height), s = source(column, width, out_width);
  const int top = (int)y, left = (int)s, bottom = min(top + 1, height - 1),
            right = min(left + 1, width - 1);
  const float* const plane = x + blockIdx.z * height * width;
  const float upper =
      plane[top * width + left] * (1 - (s - left)) + plane[top * width + right] * (s - left);
  const float lower =
      plane[bottom * width + left] * (1 - (s - left)) + plane[bottom * width + right] * (s - left);
  out[(blockIdx.z * out_height + row) * out_width + column] =
      upper * (1 - (y - top)) + lower * (y - top);
}

extern "C" void upsample(const float* x, float* out, int planes, int height, int width,
                         int out_height, int out_width, int align) {
  const dim3 block(16, 8), grid((out_width + 15) / 16, (out_height + 7) / 8, planes);
  upsample_kernel<<<grid, block>>>(x, out, height, width, out_height, out_width, align != 0);
}
