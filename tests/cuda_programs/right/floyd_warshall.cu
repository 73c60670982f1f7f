// Shortest paths between all pairs of nodes, one launch for each node that paths may go through.
#include "../program.cuh"

constexpr int kFar = 1 << 28;

__global__ void relax(int* distances, int n, int via) {
  __shared__ int to_via[16], from_via[16];
  const int a = blockIdx.y * 16 + threadIdx.y, b = blockIdx.x * 16 + threadIdx.x;
  if (threadIdx.x == 0 && a < n) to_via[threadIdx.y] = distances[a * n + via];
  if (threadIdx.y == 0 && b < n) from_via[threadIdx.x] = distances[via * n + b];
  __syncthreads();
  // Paths from or to `via` itself cannot get shorter: leaving them alone keeps blocks from racing.
  if (a >= n || b >= n || a == via || b == via) return;
  const int through = to_via[threadIdx.y] + from_via[threadIdx.x];
  if (through < distances[a * n + b]) distances[a * n + b] = through;
}

int main() {
  const int n = 39;
  const std::vector<int> weights = random_ints(n * n, 1, 60);
  std::vector<int> distances(n * n);
  for (int i = 0; i < n * n; ++i)
    distances[i] = i / n == i % n ? 0 : weights[i] > 20 ? kFar : weights[i];
  DeviceArray<int> device(distances);
  const int blocks = (n + 15) / 16;
  for (int via = 0; via < n; ++via)
    relax<<<dim3(blocks, blocks), dim3(16, 16)>>>(device.data(), n, via);
  for (bool changed = true; changed;) {  // as Bellman and Ford do it
    changed = false;
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b)
        for (int c = 0; c < n; ++c)
          if (distances[a * n + c] + distances[c * n + b] < distances[a * n + b]) {
            distances[a * n + b] = distances[a * n + c] + distances[c * n + b];
            changed = true;
          }
  }
  expect_equal("distances", device.values(), distances);
  return verdict();
}
