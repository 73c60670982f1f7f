// finds: data race in shared memory, line 9
// Four threads add to one cell of a tile, each with an ordinary addition.
#include "../program.cuh"

__global__ void pool(const float* x, float* out) {
  __shared__ float cells[16][16];
  if (threadIdx.x < 16 && threadIdx.y < 16) cells[threadIdx.y][threadIdx.x] = 0;
  __syncthreads();
  cells[threadIdx.y / 2][threadIdx.x / 2] += 0.25f * x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 16 && threadIdx.y < 16)
    out[threadIdx.y * 16 + threadIdx.x] = cells[threadIdx.y][threadIdx.x];
}

int main() {
  DeviceArray<float> x(random_floats(1024)), out(256);
  pool<<<1, dim3(32, 32)>>>(x.data(), out.data());
  return out.values().size() != 256;
}
