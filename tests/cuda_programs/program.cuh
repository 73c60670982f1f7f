// What every program here needs: arrays on the device, numbers to start from, and a verdict.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                               \
  do {                                                                            \
    const cudaError_t status = (call);                                            \
    if (status != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

// Memory of the device that is given back at the end of its scope; uninitialised where no values
// are given.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) { CHECK(cudaMalloc(&data_, size * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    CHECK(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  // A copy on the host, after every kernel so far.
  std::vector<T> values() const {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<T> copy(size_);
    CHECK(cudaMemcpy(copy.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

// The same numbers on every machine.
inline std::vector<int> random_ints(size_t count, int low, int high, unsigned seed = 1) {
  std::vector<int> values(count);
  for (int& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = low + (int)((seed >> 8) % (unsigned)(high - low + 1));
  }
  return values;
}
inline std::vector<float> random_floats(size_t count, float low = -1, float high = 1,
                                        unsigned seed = 1) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = low + (high - low) * (float)(seed >> 8) / 16777216.0f;
  }
  return values;
}

inline int num_differences = 0;

// Says where two numbers differ by more than a tolerance, which is relative above 1.
template <class T>
void expect_close(const char* what, size_t index, T got, T expected, double tolerance) {
  const double difference = std::fabs((double)got - (double)expected);
  if (difference <= tolerance * std::fmax(1.0, std::fabs((double)expected))) return;
  if (num_differences++ < 10)
    std::printf("%s[%zu] is %.9g; expected %.9g\n", what, index, (double)got, (double)expected);
}
template <class T>
void expect_close(const char* what, const std::vector<T>& got, const std::vector<T>& expected,
                  double tolerance) {
  if (got.size() != expected.size()) {
    std::printf("%s has %zu elements; expected %zu\n", what, got.size(), expected.size());
    ++num_differences;
    return;
  }
  for (size_t i = 0; i < got.size(); ++i) expect_close(what, i, got[i], expected[i], tolerance);
}
template <class T>
void expect_equal(const char* what, const T& got, const T& expected) {
  expect_close(what, 0, got, expected, 0.0);
}
template <class T>
void expect_equal(const char* what, const std::vector<T>& got, const std::vector<T>& expected) {
  expect_close(what, got, expected, 0.0);
}

// The exit status of main: 0 after `ok`, where nothing differed.
inline int verdict() {
  if (num_differences == 0) std::puts("ok");
  return num_differences != 0;
}
