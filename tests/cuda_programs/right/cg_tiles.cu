// Cooperative groups: tiles of 4 and 16 lanes, tiles of tiles, and their votes and shuffles.
#include "../program.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int tile_sum(const cg::thread_block_tile<4>& tile, int value) {
  for (int offset = tile.size() / 2; offset > 0; offset /= 2)
    value += tile.shfl_down(value, offset);
  return tile.shfl(value, 0);
}

__global__ void tiles(const int* x, int* sums, int* neighbours, unsigned* votes, int* ranks) {
  const cg::thread_block block = cg::this_thread_block();
  const auto sixteen = cg::tiled_partition<16>(block);
  const auto four = cg::tiled_partition<4>(sixteen);
  const int t = block.thread_rank();
  sums[t] = tile_sum(cg::tiled_partition<4>(block), x[t]);
  neighbours[t] = sixteen.shfl_xor(x[t], 15) - four.shfl_up(x[t], 1);
  votes[t] = sixteen.ballot(x[t] > 0) | (unsigned)(four.any(x[t] > 45) != 0) << 16 |
             (unsigned)(sixteen.all(x[t] > -50) != 0) << 17;
  ranks[t] =
      sixteen.meta_group_rank() * 100 + four.thread_rank() * 10 + (int)sixteen.meta_group_size();
  cg::sync(block);
}

int main() {
  const int n = 64;
  const std::vector<int> x = random_ints(n, -50, 50);
  std::vector<int> sums(n), neighbours(n), ranks(n);
  std::vector<unsigned> votes(n, 0);
  for (int i = 0; i < n; ++i) {
    const int four = i / 4 * 4, sixteen = i / 16 * 16;
    sums[i] = x[four] + x[four + 1] + x[four + 2] + x[four + 3];
    neighbours[i] = x[sixteen + (i - sixteen ^ 15)] - x[i == four ? i : i - 1];
    bool any = false, all = true;
    for (int k = 0; k < 4; ++k) any |= x[four + k] > 45;
    for (int k = 0; k < 16; ++k) {
      votes[i] |= (unsigned)(x[sixteen + k] > 0) << k;
      all &= x[sixteen + k] > -50;
    }
    votes[i] |= (unsigned)any << 16 | (unsigned)all << 17;
    ranks[i] = i / 16 * 100 + i % 4 * 10 + 4;
  }
  DeviceArray<int> device_x(x), device_sums(n), device_neighbours(n), device_ranks(n);
  DeviceArray<unsigned> device_votes(n);
  tiles<<<1, dim3(16, 4)>>>(device_x.data(), device_sums.data(), device_neighbours.data(),
                            device_votes.data(), device_ranks.data());
  expect_equal("sums", device_sums.values(), sums);
  expect_equal("neighbours", device_neighbours.values(), neighbours);
  expect_equal("votes", device_votes.values(), votes);
  expect_equal("ranks", device_ranks.values(), ranks);
  return verdict();
}
