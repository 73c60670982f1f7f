// Structures, several arrays and single variables in shared memory, some of them inside a device
// function.
#include "../program.cuh"

struct Particle {
  float3 position;
  int cell;
  double mass;
};

__device__ double total_mass(double mass) {
  __shared__ double total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd_block(&total, mass);
  __syncthreads();
  const double sum = total;
  __syncthreads();
  return sum;
}

__global__ void heaviest_per_cell(const Particle* particles, int cells, double* shares, float* x) {
  __shared__ Particle local[64];
  __shared__ int order[64];
  const int t = threadIdx.x;
  local[t] = particles[t];
  const double all = total_mass(local[t].mass);
  const double again = total_mass(2 * local[t].mass);
  int rank = 0;
  for (int k = 0; k < 64; ++k) rank += local[k].mass > local[t].mass;
  order[rank] = t;
  __syncthreads();
  if (t >= cells) return;
  for (int k = 0; k < 64; ++k) {
    const Particle& p = local[order[k]];
    if (p.cell != t) continue;
    shares[t] = p.mass / all + again / all;
    x[t] = p.position.x + p.position.y - p.position.z;
    break;
  }
}

int main() {
  const int n = 64, cells = 5;
  std::vector<Particle> particles(n);
  std::vector<double> shares(cells, 0);
  std::vector<float> x(cells, 0);
  double total = 0;
  for (int i = 0; i < n; ++i) {
    particles[i] = {{i * 1.0f, i * 2.0f, i * 0.5f}, i % cells, 1.0 + i * 29 % n};
    total += particles[i].mass;
  }
  for (int c = 0; c < cells; ++c) {
    int best = c;
    for (int i = c; i < n; i += cells) best = particles[i].mass > particles[best].mass ? i : best;
    shares[c] = particles[best].mass / total + 2;
    x[c] = best * 2.5f;
  }
  DeviceArray<Particle> device(particles);
  DeviceArray<double> device_shares(cells);
  DeviceArray<float> device_x(cells);
  heaviest_per_cell<<<1, n>>>(device.data(), cells, device_shares.data(), device_x.data());
  expect_close("shares", device_shares.values(), shares, 1e-12);
  expect_equal("x", device_x.values(), x);
  return verdict();
}
