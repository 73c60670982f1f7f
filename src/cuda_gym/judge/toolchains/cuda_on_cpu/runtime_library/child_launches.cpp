// Grids that kernels launch. CUDA lets a child begin at any time after its launch and lets nobody wait
// for it inside a kernel, so that here each begins when the grid that launched it has ended: in the
// order of the launches, on the same pool.

#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "runtime.h"

namespace cuda_on_cpu {
namespace {

constexpr size_t body_alignment = 64;

std::mutex* children_lock = new std::mutex;
std::deque<Launch>* children = new std::deque<Launch>;

}  // namespace

void launch_later(const Launch& launch) {
  Launch child = launch;
  const size_t bytes = (launch.body_bytes + body_alignment - 1) & ~(body_alignment - 1);
  void* const body = aligned_alloc(body_alignment, bytes);
  if (!body) abort();
  // Arguments of a kernel are copied as bytes on a GPU too.
  memcpy(body, launch.body, launch.body_bytes);
  child.body = body;
  std::lock_guard<std::mutex> lock(*children_lock);
  children->push_back(child);
}

bool take_child(Launch* child) {
  std::lock_guard<std::mutex> lock(*children_lock);
  if (children->empty()) return false;
  *child = children->front();
  children->pop_front();
  return true;
}

void release_child(const Launch& child) { free(const_cast<void*>(child.body)); }

}  // namespace cuda_on_cpu
