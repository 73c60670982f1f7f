// An OS thread that runs blocks. Included by launch.cpp alone.
#pragma once

#include <link.h>
#include <setjmp.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

thread_local CUDA_ON_CPU_TLS uint3 threadIdx;
thread_local CUDA_ON_CPU_TLS uint3 blockIdx;
thread_local CUDA_ON_CPU_TLS dim3 blockDim;
thread_local CUDA_ON_CPU_TLS dim3 gridDim;
thread_local CUDA_ON_CPU_TLS char* cuda_on_cpu_dynamic_shared;
static cuda_on_cpu::Block outside_of_kernels;
thread_local CUDA_ON_CPU_TLS cuda_on_cpu::Block* cuda_on_cpu_block = &outside_of_kernels;

extern "C" void* __tls_get_addr(size_t* module_and_offset);

namespace cuda_on_cpu {
namespace {

constexpr size_t dynamic_shared_alignment = 4096;

std::atomic<bool> is_poisoning{false};

// Where a thread of a loop goes that cannot go on.
thread_local jmp_buf way_out;

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

}  // namespace
}  // namespace cuda_on_cpu
