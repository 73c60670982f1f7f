// A tree built by the host in managed memory and walked by the device through the same pointers.
#include "../program.cuh"

struct Node {
  int key;
  Node *left, *right;
};

Node* insert(Node* root, Node* node) {
  if (!root) return node;
  Node*& child = node->key < root->key ? root->left : root->right;
  child = insert(child, node);
  return root;
}

__global__ void depths(const Node* root, const int* keys, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int depth = 0;
  const Node* node = root;
  while (node && node->key != keys[i]) {
    node = keys[i] < node->key ? node->left : node->right;
    ++depth;
  }
  out[i] = node ? depth : -1;
}

int main() {
  const int n = 63;
  Node* nodes;
  int *keys, *out;
  CHECK(cudaMallocManaged(&nodes, n * sizeof(Node)));
  CHECK(cudaMallocManaged(&keys, (n + 2) * sizeof(int)));
  CHECK(cudaMallocManaged(&out, (n + 2) * sizeof(int)));
  Node* root = nullptr;
  int count = 0;
  for (int step = 32; step >= 1; step /= 2)  // level by level: the tree becomes perfect
    for (int key = step; key < 64; key += 2 * step) {
      nodes[count] = {key, nullptr, nullptr};
      root = insert(root, &nodes[count++]);
    }
  for (int i = 0; i < n + 2; ++i) keys[i] = i;  // 0 and 64 are not in the tree
  depths<<<1, 96>>>(root, keys, out, n + 2);
  CHECK(cudaDeviceSynchronize());
  expect_equal("nodes", count, n);
  for (int i = 0; i < n + 2; ++i) {
    int expected = 5;
    for (int k = i; k && k % 2 == 0; k /= 2) --expected;
    expect_equal("depth", out[i], i == 0 || i == 64 ? -1 : expected);
  }
  CHECK(cudaFree(nodes));
  CHECK(cudaFree(keys));
  CHECK(cudaFree(out));
  return verdict();
}
