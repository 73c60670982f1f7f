// A Fourier transform of 256 points in shared memory, checked by transforming back and by a wave
// whose spectrum is known.
#include "../program.cuh"

constexpr int kPoints = 256, kBits = 8;

__global__ void fft(const float2* x, float2* out, float direction) {
  __shared__ float2 point[kPoints];
  const int t = threadIdx.x, first = blockIdx.x * kPoints;
  for (int i = t; i < kPoints; i += kPoints / 2) point[__brev(i) >> (32 - kBits)] = x[first + i];
  for (int half = 1; half < kPoints; half *= 2) {
    __syncthreads();
    const int k = t % half, even = t / half * 2 * half + k, odd = even + half;
    float s, c;
    sincospif(direction * k / half, &s, &c);
    const float2 e = point[even], o = point[odd];
    const float2 turned = {o.x * c - o.y * s, o.x * s + o.y * c};
    point[even] = {e.x + turned.x, e.y + turned.y};
    point[odd] = {e.x - turned.x, e.y - turned.y};
  }
  __syncthreads();
  for (int i = t; i < kPoints; i += kPoints / 2) out[first + i] = point[i];
}

int main() {
  const int signals = 3;
  std::vector<float2> x(signals * kPoints);
  const std::vector<float> noise = random_floats(2 * kPoints);
  for (int i = 0; i < kPoints; ++i) {
    x[i] = {i == 0 ? 1.0f : 0.0f, 0.0f};
    x[kPoints + i] = {(float)std::cos(2 * M_PI * 5 * i / kPoints),
                      (float)std::sin(2 * M_PI * 5 * i / kPoints)};
    x[2 * kPoints + i] = {noise[2 * i], noise[2 * i + 1]};
  }
  DeviceArray<float2> device_x(x), spectrum(x.size()), back(x.size());
  fft<<<signals, kPoints / 2>>>(device_x.data(), spectrum.data(), -1.0f);
  fft<<<signals, kPoints / 2>>>(spectrum.data(), back.data(), 1.0f);
  const std::vector<float2> s = spectrum.values(), b = back.values();
  for (int i = 0; i < kPoints; ++i) {
    expect_close("impulse", i, s[i].x, 1.0f, 1e-6);
    expect_close("wave", i, s[kPoints + i].x, i == 5 ? (float)kPoints : 0.0f, 1e-4);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    expect_close("real", i, b[i].x / kPoints, x[i].x, 1e-5);
    expect_close("imaginary", i, b[i].y / kPoints, x[i].y, 1e-5);
  }
  return verdict();
}
