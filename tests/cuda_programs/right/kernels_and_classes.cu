// A class whose member functions launch kernels: a friend, a template, and one that gets the object
// itself as its argument.
#include "../program.cuh"

class Matrix {
 public:
  Matrix(float* elements, int rows, int columns)
      : elements_(elements), rows_(rows), columns_(columns) {}
  __host__ __device__ float& at(int row, int column) const {
    return elements_[row * columns_ + column];
  }
  __host__ __device__ int rows() const { return rows_; }
  __host__ __device__ int columns() const { return columns_; }

  void scale(float factor) const;
  Matrix transposed_into(float* memory) const;
  friend __global__ void scale_elements(Matrix matrix, float factor);

 private:
  float* elements_;
  int rows_, columns_;
};

__global__ void scale_elements(Matrix matrix, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < matrix.rows_ * matrix.columns_) matrix.elements_[i] *= factor;
}

template <int Tile>
__global__ void transpose(const Matrix from, const Matrix to) {
  __shared__ float tile[Tile][Tile + 1];
  int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  if (row < from.rows() && column < from.columns())
    tile[threadIdx.y][threadIdx.x] = from.at(row, column);
  __syncthreads();
  row = blockIdx.x * Tile + threadIdx.y;
  column = blockIdx.y * Tile + threadIdx.x;
  if (row < to.rows() && column < to.columns()) to.at(row, column) = tile[threadIdx.x][threadIdx.y];
}

void Matrix::scale(float factor) const {
  scale_elements<<<(rows_ * columns_ + 63) / 64, 64>>>(*this, factor);
}

Matrix Matrix::transposed_into(float* memory) const {
  constexpr int tile = 8;
  const Matrix result(memory, columns_, rows_);
  transpose<tile>
      <<<dim3((columns_ + tile - 1) / tile, (rows_ + tile - 1) / tile), dim3(tile, tile)>>>(*this,
                                                                                            result);
  return result;
}

int main() {
  const int rows = 11, columns = 30;
  const std::vector<float> x = random_floats(rows * columns);
  DeviceArray<float> a(x), b(rows * columns);
  const Matrix matrix(a.data(), rows, columns);
  matrix.scale(4.0f);
  matrix.transposed_into(b.data()).scale(0.5f);
  std::vector<float> expected(rows * columns);
  for (int i = 0; i < rows * columns; ++i) expected[i % columns * rows + i / columns] = 2 * x[i];
  expect_equal("transposed", b.values(), expected);
  return verdict();
}
