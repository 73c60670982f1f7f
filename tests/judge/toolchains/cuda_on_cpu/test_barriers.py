from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_declarations import declarations
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode, Modes, modes
from cuda_gym.judge.toolchains.cuda_source import Source


def modes_of(*texts: str) -> Modes:
    sources = [Source(f"kernels/{number}.cu", text) for number, text in enumerate(texts)]
    return modes([d for source in sources for d in declarations(source)])


KERNEL = "__global__ void k(float* x) { %s }\n"


@pytest.mark.parametrize(
    "call",
    [
        "__syncthreads();",
        "x[0] = __shfl_down_sync(-1, x[0], 1);",
        "if (__syncthreads_or(1)) x[0] = 1;",
        "auto b = cooperative_groups::this_thread_block(); b.sync();",
        "unsigned m = __activemask();",
        "while (atomicCAS(lock, 0, 1) != 0) {}",
        "while (atomicAdd(flag, 0) == 0);",
        "__nanosleep(10);",
    ],
)
def test_a_kernel_that_waits_runs_as_fibers(call: str) -> None:
    assert modes_of(KERNEL % call).of("k") is Mode.FIBERS


@pytest.mark.parametrize(
    "call",
    [
        "x[threadIdx.x] = 1;",
        "// __syncthreads();\n",
        "atomicAdd(x, 1.0f);",
        'printf("__syncthreads");',
    ],
)
def test_a_kernel_that_does_not_wait_runs_as_a_loop(call: str) -> None:
    assert modes_of(KERNEL % call).of("k") is Mode.LOOP


@pytest.mark.parametrize(
    "helper",
    [
        "__device__ void helper() { __syncthreads(); }",
        "template <int N = 4> __device__ __forceinline__ void helper() { __syncwarp(); }",
        "#define helper() \\\n  __syncthreads()",
        "#define SYNC __syncthreads\n__device__ void inner() { SYNC(); } __device__ void helper() { inner(); }",
        "struct helper { __device__ helper() { __syncthreads(); } };",
        "namespace n { inline namespace m { __device__ void helper() { __syncthreads(); } } }",
        "struct B { __device__ ~B() { __syncthreads(); } }; using helper = B;",
        "struct B { __device__ static void go() { __syncthreads(); } }; __device__ void helper() { B::go(); }",
    ],
)
def test_a_barrier_is_found_behind_other_names(helper: str) -> None:
    text = helper + "\n__global__ void calm(float* x) { x[0] = 1; }\n" + KERNEL % "helper();"
    found = modes_of(text)
    assert found.of("k") is Mode.FIBERS
    assert found.of("calm") is Mode.LOOP


def test_a_barrier_is_found_in_a_header_of_the_submission() -> None:
    found = modes_of("__device__ void helper() { __syncthreads(); }", KERNEL % "helper();")
    assert found.of("k") is Mode.FIBERS


@pytest.mark.parametrize(
    "hidden",
    [
        "struct V { float v; }; __device__ V operator+(V a, V b) { __syncthreads(); return a; }",
        "struct B { virtual __device__ void go() = 0; }; struct D : B { __device__ void go() override { __syncthreads(); } };",
        "__device__ void f() { __syncthreads(); } __device__ void (*pointer)() = f;",
        "#define CALL(name) __sync##name()",
    ],
)
def test_where_names_do_not_tell_everything_runs_as_fibers(hidden: str) -> None:
    assert modes_of(hidden + "\n" + KERNEL % "x[0] = 1;").of("k") is Mode.FIBERS


def test_a_functor_that_waits_makes_generic_kernels_wait() -> None:
    found = modes_of(
        "struct F { __device__ void operator()() { __syncthreads(); } };\n"
        "template <class T> __global__ void generic(T f) { f(); }\n" + KERNEL % "x[0] = 1;"
    )
    assert found.of("generic") is Mode.FIBERS
    assert found.of("k") is Mode.LOOP


def test_a_launch_through_an_unknown_name_waits_if_any_kernel_does() -> None:
    assert modes_of(KERNEL % "__syncthreads();").of("pointer") is Mode.FIBERS
    assert modes_of(KERNEL % "x[0] = 1;").of("pointer") is Mode.LOOP


def test_overloads_share_the_stricter_mode() -> None:
    text = KERNEL % "__syncthreads();" + "__global__ void k(int* x) { x[0] = 1; }"
    assert modes_of(text).of("k") is Mode.FIBERS


def test_functions_that_read_the_index_are_noticed_and_macros_need_no_care() -> None:
    found = modes_of(
        "#define I (blockIdx.x * blockDim.x + threadIdx.x)\n"
        "__device__ int index() { return I; }\n"
        "__global__ void by_function(float* x) { x[index()] = 1; }\n"
        "__global__ void by_macro(float* x) { x[I] = 1; }\n"
    )
    assert found.of("by_function") is Mode.LOOP_WITH_INDEX
    assert found.of("by_macro") is Mode.LOOP
    assert found.keeps_index
    assert not modes_of(KERNEL % "x[threadIdx.x] = 1;").keeps_index
