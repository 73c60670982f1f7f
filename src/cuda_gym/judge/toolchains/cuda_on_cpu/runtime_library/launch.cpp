// Launches: the blocks of a grid over a pool of OS threads.

#include "../include/cuda_on_cpu/launch.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "kernel_times.h"
#include "runtime.h"
#include "worker.h"

extern "C" int cuda_on_cpu_num_threads(void);

namespace cuda_on_cpu {
namespace {

std::atomic<uint64_t> num_launches{0};
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

int default_num_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return (int)std::thread::hardware_concurrency();
}

void run_grid(const Launch* launch) {
  ++num_launches;
  const TimedLaunch timed(*launch);
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
