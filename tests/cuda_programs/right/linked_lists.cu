// Buckets as linked lists: a node is pushed by exchanging the head of its list.
#include "../program.cuh"

struct Node {
  int value, next;
};

__global__ void push(const int* x, int n, int buckets, int* heads, Node* nodes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  nodes[i].value = x[i];
  nodes[i].next = atomicExch(&heads[x[i] % buckets], i);
}

__global__ void walk(const int* heads, const Node* nodes, int buckets, int* lengths,
                     long long* sums) {
  const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
  if (bucket >= buckets) return;
  int length = 0;
  long long sum = 0;
  for (int at = heads[bucket]; at >= 0; at = nodes[at].next, ++length) sum += nodes[at].value;
  lengths[bucket] = length;
  sums[bucket] = sum;
}

int main() {
  const int n = 1234, buckets = 37;
  const std::vector<int> x = random_ints(n, 0, 1 << 20);
  DeviceArray<int> device_x(x), heads(std::vector<int>(buckets, -1)), lengths(buckets);
  DeviceArray<Node> nodes(n);
  DeviceArray<long long> sums(buckets);
  push<<<10, 128>>>(device_x.data(), n, buckets, heads.data(), nodes.data());
  walk<<<1, 64>>>(heads.data(), nodes.data(), buckets, lengths.data(), sums.data());
  std::vector<int> expected_lengths(buckets, 0);
  std::vector<long long> expected_sums(buckets, 0);
  for (int value : x) {
    ++expected_lengths[value % buckets];
    expected_sums[value % buckets] += value;
  }
  expect_equal("lengths", lengths.values(), expected_lengths);
  expect_equal("sums", sums.values(), expected_sums);
  return verdict();
}
