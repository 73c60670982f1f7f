from __future__ import annotations

import pytest

from cuda_gym.core.findings import KernelResources
from cuda_gym.judge.toolchains.block_sizes import with_known_blocks
from cuda_gym.judge.toolchains.cuda_constants import block_threads, whole_number
from cuda_gym.judge.toolchains.cuda_source import Source

HOPPER = (9, 0)


def _kernel(source: str, name: str = "k", registers: int = 32) -> KernelResources:
    kernel = KernelResources(name=name, registers=registers, shared_bytes=0)
    [found] = with_known_blocks([kernel], {"kernels/a.cu": source}, HOPPER)
    return found


def _threads(source: str, name: str = "k") -> int | None:
    return _kernel(source, name).block_threads


@pytest.mark.parametrize(
    ("before", "block", "threads"),
    [
        ("", "256", 256),
        ("", "dim3(16, 16)", 256),
        ("", "dim3{8, 4, 2}", 64),
        ("", "32 * 4", 128),
        ("#define TILE 16\n", "dim3(TILE, TILE)", 256),
        ("constexpr int warps = 4;\n", "warps * 32", 128),
        ("static const unsigned int threads = 1u << 7;\n", "threads", 128),
        ("dim3 block(32, 8);\n", "block", 256),
        ("const dim3 block = dim3(64);\n", "block", 64),
        ("int threads = 128;\n", "(unsigned)threads", 128),
        ("int threads = 128; if (n < 5) threads = 64;\n", "threads", None),
        ("dim3 block(32, 8); block.y = n;\n", "block", None),
        ("int threads = choose(n);\n", "threads", None),
        ("", "n", None),
        ("", "0", None),
        ("", "2048", None),
        ("", "1 << 9999999", None),
    ],
)
def test_the_block_of_a_launch_is_read_where_the_text_tells_it(
    before: str, block: str, threads: int | None
) -> None:
    head = before if "#" in before or "const" in before else ""
    body = "" if head else before
    source = f"{head}void f(int n) {{ {body} k<<<n, {block}, 0, s>>>(x); }}"
    assert _threads(source) == threads


def test_dynamic_shared_memory_counts() -> None:
    source = "void f() { k<<<1, 256, 256 * 64 * sizeof(float)>>>(x); }"
    found = _kernel(source)
    assert (found.occupancy, found.limited_by) == (3 * 8 / 64, "shared memory")


def test_shared_memory_that_is_not_known_leaves_the_occupancy_open() -> None:
    assert _kernel("void f(int n) { k<<<1, 256, n>>>(x); }").occupancy is None


def test_blocks_of_several_sizes_leave_the_occupancy_open() -> None:
    assert _threads("void f() { k<<<1, 64>>>(x); k<<<1, 128>>>(x); }") is None
    assert _threads("void f() { k<<<1, 64>>>(x); k<<<2, 64>>>(x); }") == 64


def test_instances_of_a_template_have_blocks_of_their_own() -> None:
    source = "void f() { k< 64 ><<<1, 64>>>(x); ns::k<128><<<1, 128>>>(x); }"
    assert _threads(source, "k<64>") == 64
    assert _threads(source, "ns::k<128>") == 128
    assert _threads(source, "k<256>") is None


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void __launch_bounds__(512) k(float* x)",
        "__global__ __launch_bounds__(T, 2) void k(float* x)",
        "template <int N>\n__global__ void __launch_bounds__(512)\nk(float* x)",
    ],
)
def test_bounds_tell_the_block_of_a_kernel_whose_launches_do_not(head: str) -> None:
    source = f"#define T 512\n{head} {{}}\nvoid f(int n) {{ k<<<1, n>>>(x); }}"
    assert _threads(source) == 512


def test_registers_limit_the_occupancy() -> None:
    found = _kernel("void f() { k<<<1, 256>>>(x); }", registers=128)
    assert (found.occupancy, found.limited_by) == (0.25, "registers")


def test_a_text_that_no_compiler_takes_is_no_error() -> None:
    assert _threads("void f() { k<<<1, 256") is None
    assert _threads("((((((") is None


def test_the_definition_nearest_above_counts() -> None:
    text = "void f() { int t = 32; a<<<1, t>>>(x); }\nvoid g() { int t = 64; b<<<1, t>>>(x); }"
    source = Source("a.cu", text)
    assert block_threads("t", source, text.index("a<<<")) == 32
    assert block_threads("t", source, text.index("b<<<")) == 64


def test_a_name_that_stands_for_itself_is_not_followed_for_ever() -> None:
    assert whole_number("A", Source("a.cu", "#define A A + 1\n"), 16) is None
