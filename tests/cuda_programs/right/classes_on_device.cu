// Classes of the device: constructors, operators, inheritance, virtual functions, memory from new.
#include "../program.cuh"

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ float twice() const { return 2 * area(); }
};
class Rectangle : public Shape {
 public:
  __device__ Rectangle(float width, float height) : width_(width), height_(height) {}
  __device__ float area() const override { return width_ * height_; }

 protected:
  float width_, height_;
};
class Square final : public Rectangle {
 public:
  __device__ explicit Square(float side) : Rectangle(side, side) {}
  __device__ float area() const override { return Rectangle::area() + 0.5f; }
};

struct Rational {
  long long numerator, denominator;
  __host__ __device__ constexpr Rational(long long n = 0, long long d = 1)
      : numerator(n), denominator(d) {}
  __host__ __device__ friend Rational operator+(Rational a, Rational b) {
    long long n = a.numerator * b.denominator + b.numerator * a.denominator,
              d = a.denominator * b.denominator;
    long long x = n, y = d;
    while (y) {
      const long long rest = x % y;
      x = y;
      y = rest;
    }
    return {n / x, d / x};
  }
  __host__ __device__ bool operator==(const Rational& o) const {
    return numerator == o.numerator && denominator == o.denominator;
  }
};

__global__ void areas(float* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  Shape* const shape = i % 2 ? static_cast<Shape*>(new Square(i)) : new Rectangle(i, 3.0f);
  out[i] = shape->twice();
  delete shape;
}

__global__ void harmonic(Rational* out) {
  Rational sum;
  for (int k = 1; k <= threadIdx.x + 1; ++k) sum = sum + Rational(1, k);
  out[threadIdx.x] = sum;
}

int main() {
  const int n = 20;
  DeviceArray<float> out(n);
  areas<<<1, 32>>>(out.data(), n);
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = i % 2 ? 2 * (i * i + 0.5f) : 6.0f * i;
  expect_equal("areas", out.values(), expected);
  DeviceArray<Rational> sums(10);
  harmonic<<<1, 10>>>(sums.data());
  const std::vector<Rational> got = sums.values();
  expect_equal("H(4) = 25/12", got[3] == Rational(25, 12), true);
  expect_equal("H(10) = 7381/2520", got[9] == Rational(7381, 2520), true);
  return verdict();
}
