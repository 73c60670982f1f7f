// A stream that asks for an array to stay in the cache: the hint is taken, and changes no number.
#include "../program.cuh"

__global__ void add_up(const int* table, int size, const int* steps, int n, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int place = i % size, sum = 0;
  for (int k = 0; k < 8; ++k) {
    sum += table[place];
    place = (place + steps[i]) % size;
  }
  sums[i] = sum;
}

int main() {
  const int n = 500, size = 96;
  const std::vector<int> table = random_ints(size, 0, 99), steps = random_ints(n, 1, 50, 2);
  DeviceArray<int> device_table(table), device_steps(steps), sums(n);
  cudaStream_t stream;
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  cudaStreamAttrValue hint = {};
  hint.accessPolicyWindow.base_ptr = device_table.data();
  hint.accessPolicyWindow.num_bytes = size * sizeof(int);
  hint.accessPolicyWindow.hitRatio = 1;
  hint.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  hint.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &hint));
  add_up<<<4, 128, 0, stream>>>(device_table.data(), size, device_steps.data(), n, sums.data());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaCtxResetPersistingL2Cache());
  cudaStreamAttrValue priority;
  CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributePriority, &priority));
  expect_equal("priority", priority.priority, greatest);
  const std::vector<int> got = sums.values();
  for (int i = 0; i < n; ++i) {
    int expected = 0;
    for (int k = 0; k < 8; ++k) expected += table[(i % size + k * steps[i]) % size];
    expect_equal("sum", got[i], expected);
  }
  CHECK(cudaStreamDestroy(stream));
  return verdict();
}
