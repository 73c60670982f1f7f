// Gravity between all pairs of bodies: tiles of bodies go through shared memory.
#include "../program.cuh"

constexpr int kThreads = 64;

__device__ float3 attraction(float4 on, float4 by, float3 sum) {
  const float dx = by.x - on.x, dy = by.y - on.y, dz = by.z - on.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
  const float factor = by.w * inverse * inverse * inverse;
  return make_float3(sum.x + factor * dx, sum.y + factor * dy, sum.z + factor * dz);
}

__global__ void accelerations(const float4* bodies, float3* out, int n) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 self = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += blockDim.x) {
    const int other = first + threadIdx.x;
    tile[threadIdx.x] =
        other < n ? bodies[other] : make_float4(0, 0, 0, 0);  // without mass, without force
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < blockDim.x; ++k) sum = attraction(self, tile[k], sum);
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}

int main() {
  const int n = 150;
  const std::vector<float> numbers = random_floats(4 * n);
  std::vector<float4> bodies(n);
  for (int i = 0; i < n; ++i)
    bodies[i] = {numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2],
                 std::fabs(numbers[4 * i + 3])};
  DeviceArray<float4> device_bodies(bodies);
  DeviceArray<float3> out(n);
  accelerations<<<(n + kThreads - 1) / kThreads, kThreads, kThreads * sizeof(float4)>>>(
      device_bodies.data(), out.data(), n);
  const std::vector<float3> got = out.values();
  for (int i = 0; i < n; ++i) {
    double x = 0, y = 0, z = 0;
    for (int k = 0; k < n; ++k) {
      const double dx = (double)bodies[k].x - bodies[i].x, dy = (double)bodies[k].y - bodies[i].y,
                   dz = (double)bodies[k].z - bodies[i].z;
      const double factor = bodies[k].w * std::pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
      x += factor * dx;
      y += factor * dy;
      z += factor * dz;
    }
    expect_close("x", i, (double)got[i].x, x, 1e-4);
    expect_close("y", i, (double)got[i].y, y, 1e-4);
    expect_close("z", i, (double)got[i].z, z, 1e-4);
  }
  return verdict();
}
