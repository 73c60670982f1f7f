// Connected components of a graph: labels sink along edges until nothing changes any more.
#include "../program.cuh"

__global__ void sink(const int2* edges, int num_edges, int* labels, int* changed) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= num_edges) return;
  const int a = edges[e].x, b = edges[e].y;
  const int label_a = atomicAdd(&labels[a], 0), label_b = atomicAdd(&labels[b], 0);
  if (label_a == label_b) return;
  const int smaller = min(label_a, label_b);
  const int old_a = atomicMin(&labels[a], smaller), old_b = atomicMin(&labels[b], smaller);
  if (old_a > smaller || old_b > smaller) atomicExch(changed, 1);
}

int main() {
  const int num_nodes = 200, groups = 7;
  std::vector<int2> edges;
  std::vector<int> labels(num_nodes), expected(num_nodes);
  for (int v = 0; v < num_nodes; ++v) {
    labels[v] = v;
    expected[v] = v % groups;
    if (v >= groups) edges.push_back(v % 2 ? make_int2(v, v - groups) : make_int2(v - groups, v));
    if (v >= 3 * groups && v % 5 == 0) edges.push_back({v, v - 3 * groups});
  }
  DeviceArray<int2> device_edges(edges);
  DeviceArray<int> device_labels(labels), changed(1);
  int rounds = 0;
  for (int any = 1; any && rounds < num_nodes; ++rounds) {
    CHECK(cudaMemset(changed.data(), 0, sizeof(int)));
    sink<<<(edges.size() + 63) / 64, 64>>>(device_edges.data(), (int)edges.size(),
                                           device_labels.data(), changed.data());
    any = changed.values()[0];
  }
  expect_equal("labels", device_labels.values(), expected);
  expect_equal("ended", rounds < num_nodes, true);
  return verdict();
}
