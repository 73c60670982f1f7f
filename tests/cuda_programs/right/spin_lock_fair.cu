// A ticket lock: threads of all blocks change two ordinary variables one after another, in the
// order in which they came.
#include "../program.cuh"

struct TicketLock {
  unsigned next_ticket, now_serving;

  __device__ unsigned acquire() {
    const unsigned ticket = atomicAdd(&next_ticket, 1u);
    while (atomicAdd(&now_serving, 0u) != ticket) __nanosleep(50);
    __threadfence();
    return ticket;
  }
  __device__ void release() {
    __threadfence();
    atomicAdd(&now_serving, 1u);
  }
};

__global__ void append(TicketLock* lock, int* length, int* log, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const unsigned ticket = lock->acquire();
    const int place = *length;
    log[place] = (int)ticket;
    *length = place + 1;
    lock->release();
  }
}

int main() {
  const int blocks = 3, threads = 40, rounds = 2, n = blocks * threads * rounds;
  DeviceArray<TicketLock> lock(std::vector<TicketLock>(1, TicketLock{0, 0}));
  DeviceArray<int> length(std::vector<int>(1, 0)), log(n);
  append<<<blocks, threads>>>(lock.data(), length.data(), log.data(), rounds);
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = i;
  expect_equal("length", length.values()[0], n);
  expect_equal("log", log.values(), expected);
  return verdict();
}
