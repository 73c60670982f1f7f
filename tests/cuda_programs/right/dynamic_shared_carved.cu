// One dynamic allocation holds three arrays of different types: doubles first, then what needs less
// alignment.
#include "../program.cuh"

__global__ void weighted_groups(const double* weights, const int* groups, int n, int num_groups,
                                double* sums, int* counts, char* kinds) {
  extern __shared__ __align__(16) unsigned char memory[];
  double* const sum = reinterpret_cast<double*>(memory);
  int* const count = reinterpret_cast<int*>(sum + num_groups);
  char* const kind = reinterpret_cast<char*>(count + num_groups);
  for (int g = threadIdx.x; g < num_groups; g += blockDim.x) {
    sum[g] = 0;
    count[g] = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicAdd(&sum[groups[i]], weights[i]);
    atomicAdd(&count[groups[i]], 1);
  }
  __syncthreads();
  for (int g = threadIdx.x; g < num_groups; g += blockDim.x)
    kind[g] = count[g] == 0 ? 'e' : sum[g] < 0 ? 'n' : 'p';
  __syncthreads();
  for (int g = threadIdx.x; g < num_groups; g += blockDim.x) {
    const int other = num_groups - 1 - g;
    sums[g] = sum[other];
    counts[g] = count[other];
    kinds[g] = kind[other];
  }
}

int main() {
  const int n = 900, num_groups = 45;
  const std::vector<int> whole = random_ints(n, -100, 100),
                         groups = random_ints(n, 0, num_groups - 3, 9);
  std::vector<double> weights(n), sums(num_groups, 0);
  std::vector<int> counts(num_groups, 0);
  std::vector<char> kinds(num_groups);
  for (int i = 0; i < n; ++i) {
    weights[i] = whole[i] / 4.0;
    sums[num_groups - 1 - groups[i]] += weights[i];
    ++counts[num_groups - 1 - groups[i]];
  }
  for (int g = 0; g < num_groups; ++g) kinds[g] = counts[g] == 0 ? 'e' : sums[g] < 0 ? 'n' : 'p';
  DeviceArray<double> device_weights(weights), device_sums(num_groups);
  DeviceArray<int> device_groups(groups), device_counts(num_groups);
  DeviceArray<char> device_kinds(num_groups);
  const size_t bytes = num_groups * (sizeof(double) + sizeof(int) + sizeof(char));
  weighted_groups<<<1, 128, bytes>>>(device_weights.data(), device_groups.data(), n, num_groups,
                                     device_sums.data(), device_counts.data(), device_kinds.data());
  expect_equal("sums", device_sums.values(), sums);
  expect_equal("counts", device_counts.values(), counts);
  expect_equal("kinds", device_kinds.values(), kinds);
  return verdict();
}
