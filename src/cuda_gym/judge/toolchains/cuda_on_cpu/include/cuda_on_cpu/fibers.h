// Waiting: the current CUDA thread is put aside and another one of the block goes on.
//
// The switch is inlined where a thread waits. As a function it would return on another stack than it
// was called from, and the processor's return prediction misses every time: measured, 2.3 times
// slower over a whole softmax.
#pragma once

#include "block.h"

// Whether functions other than kernels read threadIdx: the rewriting knows, and says 0 where none does.
#ifndef CUDA_ON_CPU_KEEPS_INDEX
#define CUDA_ON_CPU_KEEPS_INDEX 1
#endif

namespace cuda_on_cpu {

#if defined(__x86_64__)
#if defined(__AVX512F__)
#define CUDA_ON_CPU_CLOBBERS_512                                                                  \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",     \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", \
      "k7"
#else
#define CUDA_ON_CPU_CLOBBERS_512
#endif
// A waiting stack holds, from its top: rbx, rbp and the address to go on at; rbx and rbp are saved
// by hand because a compiler may have reserved them. 128 bytes below the stack pointer belong to the
// interrupted function (the red zone).
CUDA_ON_CPU_INLINE void switch_stacks(void** save, void* resume) {
  __asm__ __volatile__(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbp\n\t"
      "pushq %%rbx\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rsi, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmp *%%rax\n\t"
      ".p2align 4\n"
      "1:\n\t"
      "popq %%rbx\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp\n"
      : "+D"(save), "+S"(resume)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15" CUDA_ON_CPU_CLOBBERS_512);
}
#elif defined(__aarch64__)
#if defined(__ARM_FEATURE_SVE)
#define CUDA_ON_CPU_CLOBBERS_SVE                                                                  \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13",       \
      "p14", "p15"
#else
#define CUDA_ON_CPU_CLOBBERS_SVE
#endif
// A waiting stack holds, from its top: the address to go on at (16 bytes), then x19, x29 and x30.
// x19 and x29 are saved by hand because a compiler may have reserved them (base and frame pointer);
// x18 belongs to the platform and is never touched. There is no red zone on Linux. `hint #36` is
// `bti j`: a legal target of an indirect jump where branch targets are checked.
CUDA_ON_CPU_INLINE void switch_stacks(void** save, void* resume) {
  register void** save_in asm("x0") = save;
  register void* resume_in asm("x1") = resume;
  __asm__ __volatile__(
      "sub sp, sp, #48\n\t"
      "adr x9, 1f\n\t"
      "str x9, [sp]\n\t"
      "stp x19, x29, [sp, #16]\n\t"
      "str x30, [sp, #32]\n\t"
      "mov x9, sp\n\t"
      "str x9, [x0]\n\t"
      "mov sp, x1\n\t"
      "ldr x9, [sp]\n\t"
      "br x9\n\t"
      ".p2align 4\n"
      "1:\n\t"
      "hint #36\n\t"
      "ldp x19, x29, [sp, #16]\n\t"
      "ldr x30, [sp, #32]\n\t"
      "add sp, sp, #48\n"
      : "+r"(save_in), "+r"(resume_in)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "memory",
        "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
        "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
        "v26", "v27", "v28", "v29", "v30", "v31" CUDA_ON_CPU_CLOBBERS_SVE);
}
#else
#error "the cpu device runs on x86-64 and aarch64"
#endif

#if CUDA_ON_CPU_OUTLINED

CUDA_ON_CPU_INLINE void yield() { cuda_on_cpu_yield(false, here()); }
CUDA_ON_CPU_INLINE void yield_now_and_then() { cuda_on_cpu_yield(true, here()); }

#else

CUDA_ON_CPU_INLINE void go_on_with(Block* block, Fiber* self, Fiber* other) {
  if (other != self) {
    block->current = other;
    switch_stacks(&self->stack_pointer, other->stack_pointer);
  }
#if CUDA_ON_CPU_KEEPS_INDEX
  ::threadIdx = self->index;
#endif
}

// Lets others run until somebody has marked the current thread as ready.
CUDA_ON_CPU_INLINE void suspend(Block* block, unsigned thread) {
  const unsigned warp = thread >> 5, ready = block->ready[warp];
  Fiber* const self = block->current;
  Fiber* other;
  if (ready) {
    const unsigned above = ready & (0xfffffffeu << (thread & 31));
    const unsigned lane = __builtin_ctz(above ? above : ready);
    block->ready[warp] = ready & ~(1u << lane);
    other = block->fiber[(warp << 5) + lane];
  } else {
    other = cuda_on_cpu_next_fiber(block, thread);
  }
  go_on_with(block, self, other);
}

// Lets one other thread of the block run, if there is one. For threads that spin on a lock or a
// flag: fibers are cooperative, so that without this the thread waited for would never come.
CUDA_ON_CPU_INLINE void yield() {
  Block* const block = cuda_on_cpu_block;
  if (!block->current) return;
  Fiber* const self = block->current;
  const unsigned thread = self->thread;
  block->ready[thread >> 5] |= 1u << (thread & 31);
  go_on_with(block, self, cuda_on_cpu_next_fiber(block, thread));
}

// The same, but not every time: most atomic operations are no spin.
CUDA_ON_CPU_INLINE void yield_now_and_then() {
  Block* const block = cuda_on_cpu_block;
  if (__builtin_expect((++block->num_spins & 63) == 0, 0)) yield();
}

#endif

}  // namespace cuda_on_cpu
