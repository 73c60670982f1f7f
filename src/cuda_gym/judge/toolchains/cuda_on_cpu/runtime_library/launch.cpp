// Launches: the limits of a GPU, and the blocks of a grid over a pool of OS threads.

#include "../include/cuda_on_cpu/launch.h"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime.h"

thread_local CUDA_ON_CPU_TLS uint3 threadIdx;
thread_local CUDA_ON_CPU_TLS uint3 blockIdx;
thread_local CUDA_ON_CPU_TLS dim3 blockDim;
thread_local CUDA_ON_CPU_TLS dim3 gridDim;
thread_local CUDA_ON_CPU_TLS char* cuda_on_cpu_dynamic_shared;
static cuda_on_cpu::Block outside_of_kernels;
thread_local CUDA_ON_CPU_TLS cuda_on_cpu::Block* cuda_on_cpu_block = &outside_of_kernels;

extern "C" void* __tls_get_addr(size_t* module_and_offset);
extern "C" int cuda_on_cpu_num_threads(void);

namespace cuda_on_cpu {
namespace {

// Where a thread of a loop goes that cannot go on.
thread_local jmp_buf way_out;

constexpr int default_dynamic_shared = 48 << 10;
constexpr int largest_dynamic_shared = 227 << 10;
constexpr size_t dynamic_shared_alignment = 4096;

std::atomic<uint64_t> num_launches{0};
std::atomic<int> allowed_dynamic_shared{default_dynamic_shared};
std::atomic<bool> is_poisoning{false};
std::atomic<int> chosen_num_threads{0};

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ __volatile__("yield");
#endif
}

// Waits actively for a while, as the OpenMP threads under PyTorch do (some milliseconds): a thread
// that sleeps between two launches is often woken on the core of the one that waits for it, and the
// two then take turns. Measured: row sums of 1024 x 1024 in 340 instead of 240 us.
template <class Condition>
bool spin_until(Condition condition) {
  constexpr double longest_ms = 2.0;
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
      pause_briefly();
    }
    sched_yield();
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1e3 + (now.tv_nsec - start.tv_nsec) * 1e-6 < longest_ms);
  return condition();
}

// The part of the current OS thread's memory that holds the kernels' static shared variables: the
// thread-local segment of the library that the kernel lies in.
struct Segment {
  const void* code;
  size_t module, bytes;
};

int find_segment(dl_phdr_info* library, size_t, void* data) {
  Segment* const segment = static_cast<Segment*>(data);
  const auto code = reinterpret_cast<uintptr_t>(segment->code);
  bool is_inside = false;
  size_t bytes = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& header = library->dlpi_phdr[i];
    const uintptr_t start = library->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && code >= start && code < start + header.p_memsz) is_inside = true;
    if (header.p_type == PT_TLS) bytes = header.p_memsz;
  }
  if (!is_inside) return 0;
  segment->module = library->dlpi_tls_modid;
  segment->bytes = bytes;
  return 1;
}

// One grid on its way through the pool.
struct Work {
  const Launch* launch;
  uint64_t num_blocks, chunk;
  std::atomic<uint64_t> next_block{0};
  std::atomic<bool> has_failed{false};
  Segment shared;
};

// What an OS thread keeps from launch to launch.
struct Worker {
  Block block{};
  char* dynamic_shared = nullptr;
  size_t dynamic_shared_bytes = 0;

  void prepare(const Work& work) {
    const Launch& launch = *work.launch;
    block.launch = &launch;
    cuda_on_cpu_block = &block;
    ::blockDim = launch.block;
    ::gridDim = launch.grid;
    if (launch.shared_bytes > dynamic_shared_bytes) {
      free(dynamic_shared);
      dynamic_shared_bytes =
          (launch.shared_bytes + dynamic_shared_alignment - 1) & ~(dynamic_shared_alignment - 1);
      dynamic_shared = static_cast<char*>(
          aligned_alloc(dynamic_shared_alignment, dynamic_shared_bytes + 2 * checks::margin));
      if (!dynamic_shared) abort();
    }
    cuda_on_cpu_dynamic_shared = dynamic_shared + checks::margin;
  }

  // All ones is NaN in every floating type, and far outside any index.
  void poison(const Work& work) {
    if (work.shared.bytes) {
      size_t module_and_offset[2] = {work.shared.module, 0};
      memset(__tls_get_addr(module_and_offset), 0xff, work.shared.bytes);
    }
    if (work.launch->shared_bytes)
      memset(cuda_on_cpu_dynamic_shared, 0xff, work.launch->shared_bytes);
  }

  void run_one(Work& work, uint64_t number) {
    const Launch& launch = *work.launch;
    const uint64_t plane = (uint64_t)launch.grid.x * launch.grid.y;
    block.index = {(unsigned)(number % launch.grid.x), (unsigned)(number % plane / launch.grid.x),
                   (unsigned)(number / plane)};
    ::blockIdx = block.index;
    if (is_poisoning) poison(work);
    checks::begin_block(number, work.num_blocks);
    if (launch.run_block)
      launch.run_block(launch.body, &block.index, &launch.block, &launch.grid);
    else if (!run_as_fibers(&block))
      work.has_failed = true;
    checks::end_block();
  }

  void run(Work& work) {
    prepare(work);
    checks::begin_launch(*work.launch);
    if (_setjmp(way_out))
      work.has_failed = true;
    else
      run_blocks(work);
    checks::end_launch();
    block.launch = nullptr;
    // The first worker serves every thread of the host in turn.
    cuda_on_cpu_block = &outside_of_kernels;
  }

  // Blocks are handed out in order, so that a block may wait for an earlier one.
  void run_blocks(Work& work) {
    while (!work.has_failed) {
      uint64_t number = work.next_block.fetch_add(work.chunk);
      const uint64_t end = number + work.chunk < work.num_blocks ? number + work.chunk : work.num_blocks;
      if (number >= end) break;
      while (number < end && !work.has_failed) run_one(work, number++);
    }
  }
};

// A place for each thread of a pool that uses every core: the kernel tends to wake a thread on the
// core of the one that waits for it, and leaves both there for milliseconds. Measured: max pooling
// in 440 instead of 250 us.
class Places {
 public:
  // The first place is where the calling thread is.
  void take(unsigned num_threads) {
    const int here = sched_getcpu();
    if (sched_getaffinity(0, sizeof allowed_, &allowed_) || here < 0) return;
    if ((unsigned)CPU_COUNT(&allowed_) != num_threads || num_threads < 2) return;
    cores_ = {here};
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (core != here && CPU_ISSET(core, &allowed_)) cores_.push_back(core);
  }

  // For good.
  void pin(std::thread& thread, size_t number) const {
    if (number >= cores_.size()) return;
    const cpu_set_t place = only(cores_[number]);
    pthread_setaffinity_np(thread.native_handle(), sizeof place, &place);
  }

  // The calling thread goes to the first place and stays free: threads that it starts inherit that.
  void come_home() const {
    if (cores_.empty() || sched_getcpu() == cores_[0]) return;
    const cpu_set_t place = only(cores_[0]);
    if (sched_setaffinity(0, sizeof place, &place) == 0)
      sched_setaffinity(0, sizeof allowed_, &allowed_);
  }

 private:
  static cpu_set_t only(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return set;
  }

  cpu_set_t allowed_;
  std::vector<int> cores_;
};

class Pool {
 public:
  void run(Work& work, unsigned num_workers) {
    if (num_workers > 1 && workers_.size() < 2) places_.take(cuda_on_cpu_num_threads());
    while (workers_.size() < num_workers) add_worker();
    if (num_workers > 1) {
      places_.come_home();
      announce(&work, num_workers);
    }
    workers_[0]->run(work);
    if (num_workers > 1) wait_for_the_others();
  }

  // Some block that is being run; null where none is. For a signal handler: takes no lock.
  const Block* running() const {
    for (const Worker* const worker : workers_)
      if (worker->block.launch) return &worker->block;
    return nullptr;
  }

 private:
  void add_worker() {
    const size_t number = workers_.size();
    workers_.push_back(new Worker);
    if (number == 0) return;
    // Signals meant for the process go to its main thread; faults cannot be blocked.
    sigset_t all, before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread(&Pool::serve, this, number, workers_[number], generation_.load());
    places_.pin(thread, number);
    thread.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ++num_threads_;
  }

  void announce(Work* work, unsigned num_workers) {
    work_ = work;
    num_workers_ = num_workers;
    num_busy_ = num_threads_;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++generation_;
    }
    has_work_.notify_all();
  }

  void wait_for_the_others() {
    if (spin_until([&] { return num_busy_ == 0; })) return;
    std::unique_lock<std::mutex> lock(mutex_);
    is_done_.wait(lock, [&] { return num_busy_ == 0; });
  }

  void serve(size_t number, Worker* worker, uint64_t seen) {
    prepare_thread_for_faults();
    for (;;) {
      if (!spin_until([&] { return generation_ != seen; })) {
        std::unique_lock<std::mutex> lock(mutex_);
        has_work_.wait(lock, [&] { return generation_ != seen; });
      }
      seen = generation_;
      if (number < num_workers_) worker->run(*work_);
      if (--num_busy_ == 0) {
        std::lock_guard<std::mutex> lock(mutex_);
        is_done_.notify_one();
      }
    }
  }

  Places places_;
  std::vector<Worker*> workers_;
  std::mutex mutex_;
  std::condition_variable has_work_, is_done_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> num_busy_{0};
  int num_threads_ = 0;
  unsigned num_workers_ = 0;
  Work* work_ = nullptr;
};

// A forked child has none of its parent's threads: it starts with a pool of its own.
std::mutex* launch_lock = new std::mutex;
Pool* pool = new Pool;
void start_anew_after_fork() {
  launch_lock = new std::mutex;
  pool = new Pool;
}
const int registered_for_fork = pthread_atfork(nullptr, nullptr, start_anew_after_fork);

bool is_within_limits(const Launch& launch) {
  const Extent grid = launch.grid, block = launch.block;
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || threads > 1024 || grid.x > 0x7fffffffu ||
      grid.y > 65535 || grid.z > 65535) {
    set_error(invalid_configuration,
              "kernel %s: invalid configuration, grid (%u,%u,%u) and block (%u,%u,%u); a block has 1 "
              "to 1024 threads and at most 64 along z, a grid at least 1 block and at most 65535 "
              "along y and z",
              launch.kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z);
    return false;
  }
  if ((uint64_t)grid.x * block.x > 0x7fffffffu - 1024) {
    set_error(invalid_configuration,
              "kernel %s: %llu threads along x; the cpu device runs fewer than 2^31 - 1024",
              launch.kernel, (unsigned long long)grid.x * block.x);
    return false;
  }
  if (launch.shared_bytes > (size_t)allowed_dynamic_shared) {
    set_error(invalid_value,
              "kernel %s: %zu bytes of dynamic shared memory; more than %d need cudaFuncSetAttribute("
              "kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), and %d are the most",
              launch.kernel, launch.shared_bytes, default_dynamic_shared, largest_dynamic_shared);
    return false;
  }
  return true;
}

int default_num_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return (int)std::thread::hardware_concurrency();
}

void run_grid(const Launch* launch) {
  ++num_launches;
  Work work;
  work.launch = launch;
  work.num_blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
  const uint64_t asked = (uint64_t)cuda_on_cpu_num_threads();
  const unsigned num_workers = (unsigned)(asked < work.num_blocks ? asked : work.num_blocks);
  work.chunk = work.num_blocks / (num_workers * 16ull);
  if (work.chunk == 0) work.chunk = 1;
  const void* const code = launch->run_block ? (const void*)launch->run_block
                                             : (const void*)launch->run_thread;
  work.shared = {code, 0, 0};
  if (is_poisoning) dl_iterate_phdr(find_segment, &work.shared);
  pool->run(work, num_workers);
}

}  // namespace

void leave_loops() { _longjmp(way_out, 1); }

const Block* running_block() { return pool->running(); }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

extern "C" {

int cuda_on_cpu_num_threads(void) {
#if CUDA_ON_CPU_CHECKING
  return 1;
#endif
  if (chosen_num_threads <= 0) chosen_num_threads = default_num_threads();
  return chosen_num_threads > 0 ? chosen_num_threads.load() : 1;
}

void cuda_on_cpu_set_num_threads(int count) { chosen_num_threads = count; }
void cuda_on_cpu_poison_shared_memory(int on) { is_poisoning = on != 0; }
uint64_t cuda_on_cpu_num_launches(void) { return num_launches; }

int cuda_on_cpu_dynamic_shared_limit(void) { return allowed_dynamic_shared; }

// Allowed once, allowed for every kernel: what matters is that it was asked for at all.
int cuda_on_cpu_allow_dynamic_shared(int bytes) {
  if (bytes < 0 || bytes > largest_dynamic_shared) return invalid_value;
  int allowed = allowed_dynamic_shared;
  while (bytes > allowed && !allowed_dynamic_shared.compare_exchange_weak(allowed, bytes)) {
  }
  return 0;
}

int cuda_on_cpu_launch(const Launch* launch) {
#if !CUDA_ON_CPU_CHECKING
  if (sticky_error()) return 1;
#endif
  if (!is_within_limits(*launch)) return 1;
  if (cuda_on_cpu_block->launch) return launch_later(*launch), 0;
  std::lock_guard<std::mutex> lock(*launch_lock);
  run_grid(launch);
  for (Launch child; take_child(&child); release_child(child)) run_grid(&child);
  return 0;
}

}  // extern "C"
