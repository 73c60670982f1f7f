// Segments of 4, 8 and 16 lanes: a shuffle with a width stays inside its segment.
#include "../program.cuh"

template <int Width>
__global__ void segments(const double* x, double* scans, double* rotated,
                         unsigned long long* broadcast) {
  const int t = threadIdx.x, lane = t % Width;
  double sum = x[t];
  for (int offset = 1; offset < Width; offset *= 2) {
    const double before = __shfl_up_sync(0xffffffffu, sum, offset, Width);
    if (lane >= offset) sum += before;
  }
  scans[t] = sum;
  rotated[t] = __shfl_sync(0xffffffffu, x[t], lane + 1, Width);
  broadcast[t] = __shfl_sync(0xffffffffu, (unsigned long long)t << 40, Width - 1, Width);
}

template <int Width>
void check() {
  const int n = 128;
  const std::vector<int> whole = random_ints(n, -50, 50, Width);
  const std::vector<double> x(whole.begin(), whole.end());
  std::vector<double> scans(n), rotated(n);
  std::vector<unsigned long long> broadcast(n);
  for (int i = 0; i < n; ++i) {
    const int first = i - i % Width;
    scans[i] = x[i] + (i > first ? scans[i - 1] : 0);
    rotated[i] = x[first + (i + 1) % Width];
    broadcast[i] = (unsigned long long)(first + Width - 1) << 40;
  }
  DeviceArray<double> device_x(x), device_scans(n), device_rotated(n);
  DeviceArray<unsigned long long> device_broadcast(n);
  segments<Width><<<1, n>>>(device_x.data(), device_scans.data(), device_rotated.data(),
                            device_broadcast.data());
  expect_equal("scans", device_scans.values(), scans);
  expect_equal("rotated", device_rotated.values(), rotated);
  expect_equal("broadcast", device_broadcast.values(), broadcast);
}

int main() {
  check<4>();
  check<8>();
  check<16>();
  return verdict();
}
