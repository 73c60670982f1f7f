"""Kernels with barriers made at random, free of races: what they compute does not depend on order.

Every thread owns `a` and `b`, and one place in each of two rows of shared memory. It writes its own
place of one row, meets the block, and reads any places of that row; rows take turns.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

__all__ = ["kernels"]


@dataclass
class _Maker:
    draw: st.DrawFn
    depth: int = 0
    loops: int = 0
    lines: list[str] = field(default_factory=list)

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def value(self) -> str:
        uniform = [f"u{i}" for i in range(self.loops)]
        return self.pick("a", "b", "t", "n", "m", "own[1]", "(int)blockIdx.x", "(int)threadIdx.x + 1",
                         "helper(a, b)", *uniform)  # fmt: skip

    def expression(self) -> str:
        sign = self.pick("+", "-", "*", "^", "&", "|")
        return f"({self.value()} {sign} {self.value()} {self.pick('+', '-')} {self.number(0, 9)})"

    def index(self) -> str:
        return f"(unsigned)({self.value()} + {self.number(0, 40)}) % blockDim.x"

    def add(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def exchange(self) -> None:
        row = self.pick("s", "r")
        self.add(f"{row}[t] = {self.expression()};")
        self.add("__syncthreads();")
        self.add(f"{self.pick('a', 'b')} {self.pick('=', '+=', '^=')} {row}[{self.index()}];")
        self.add("__syncthreads();")

    def shuffle(self) -> None:
        call = self.pick(
            "__shfl_xor_sync(0xffffffffu, {}, 1)",
            "__shfl_down_sync(0xffffffffu, {}, 3)",
            "__shfl_up_sync(0xffffffff, {}, 2, 8)",
            "__shfl_sync(FULL, {}, 5)",
            "(int)__ballot_sync(~0u, {} > 3)",
            "__any_sync(-1, {} == 4)",
            "__syncthreads_count({} & 1)",
        ).format(self.value())
        self.add(f"{self.pick('a', 'b')} {self.pick('=', '+=')} {call};")

    def local(self) -> None:
        name = f"c{len(self.lines)}"
        self.add(f"{self.pick('int', 'const int', 'long long')} {name} = {self.expression()};")
        self.exchange()
        self.add(f"a += {name};")

    def uniform_loop(self) -> None:
        name = f"u{self.loops}"
        head = self.pick(
            f"for (int {name} = 0; {name} < {self.number(1, 3)}; ++{name})",
            f"for (int {name} = blockDim.x / 2; {name} > 0; {name} >>= 2)",
            f"for (unsigned {name} = blockIdx.x; {name} < gridDim.x + 1; {name} += 2)",
        )
        self.add(f"{head} {{")
        self.loops += 1
        self.inside()
        if self.draw(st.booleans()):
            self.add(f"if ({name} == m) {self.pick('break', 'continue')};")
            self.exchange()
        self.loops -= 1
        self.add("}")

    def uniform_branch(self) -> None:
        condition = self.pick(
            "n > 40", "blockIdx.x == 1", "m < 2", "blockDim.x >= 64", "n % 2 == 0"
        )
        self.add(f"if ({condition}) {{")
        self.inside()
        if self.draw(st.booleans()):
            self.add("} else {")
            self.inside()
        self.add("}")

    def warp_branch(self) -> None:
        self.add(f"if ({self.pick('warp == 0', 'threadIdx.x < 32', 't / 32 != 1')}) {{")
        self.depth += 1
        self.add("for (int o = 16; o > 0; o >>= 1) a += __shfl_xor_sync(FULL, a, o);")
        self.depth -= 1
        self.add("}")

    def helper_that_waits(self) -> None:
        call = self.pick("warp_sum(a)", "warp_sum(b + 1)", "reduced(a, Larger())", "block_sum(b)")
        self.add(f"{self.pick('a', 'b')} {self.pick('=', '+=')} {call};")

    def own_code(self) -> None:
        self.add(
            self.pick(
                "if (a > b) a -= b; else b = a + 1;",
                "for (int i = 0; i < t % 4; ++i) { a += i; if (a & 1) continue; b ^= a; }",
                "own[t % 3] += a;",
                "{ int a = b; b = a * 2; }",
                "switch (t & 3) { case 0: a = 1; break; case 1: b = 2; default: a += b; }",
                "bump(a, b);",
                "int* p = &b; *p += 1;",
            ).replace("int* p = &b; *p", f"int* p{len(self.lines)} = &b; *p{len(self.lines)}")
        )

    def stride(self) -> None:
        step = self.pick("blockDim.x", "blockDim.x * gridDim.x", "(int)blockDim.x")
        start = self.pick("t", "threadIdx.x", "blockIdx.x * blockDim.x + threadIdx.x")
        self.add(f"for (int i = {start}; i < n; i += {step}) {{ a += x[i] * (b & 7); b += i; }}")

    def inside(self) -> None:
        self.depth += 1
        for _ in range(self.number(1, 2)):
            self.statement()
        self.depth -= 1

    def statement(self) -> None:
        simple = ["exchange", "shuffle", "own_code", "local", "stride", "warp_branch",
                  "helper_that_waits"]  # fmt: skip
        nested = ["uniform_loop", "uniform_branch"] if self.depth < 2 else []
        getattr(self, self.pick(*simple, *nested))()


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """The text of a file with one kernel and its launcher."""
    maker = _Maker(draw)
    for _ in range(maker.number(1, 4)):
        maker.statement()
    body = "\n".join(maker.lines)
    return f"""#define FULL 0xffffffffu
__device__ int helper(int a, int b) {{ return a * 3 - b; }}
__device__ void bump(int& a, int b) {{ a += b & 3; }}
__device__ int warp_sum(int v) {{
#pragma unroll
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  return v;
}}
struct Larger {{ __device__ int operator()(int a, int b) const {{ return a > b ? a : b; }} }};
template <typename T, class Op>
__device__ T reduced(T v, Op op) {{
  for (int o = 16; o > 0; o /= 2) v = op(v, __shfl_xor_sync(FULL, v, o));
  return v;
}}
__device__ __forceinline__ int block_sum(int v) {{
  static __shared__ int sums[32];
  const int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  v = warp_sum(v);
  if (lane == 0) sums[wid] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / warpSize ? sums[lane] : 0;
  if (wid == 0) v = warp_sum(v);
  __syncthreads();
  return v;
}}
__global__ void k(const int* __restrict__ x, int* __restrict__ y, int n, int m) {{
  __shared__ int s[128], r[128];
  const int t = threadIdx.x, warp = threadIdx.x / 32;
  int a = x[t], b = t * 7 + blockIdx.x;
  int own[3] = {{1, 2, 3}};
{body}
  y[blockIdx.x * blockDim.x + t] = a * 31 + b + own[0] * 5 + own[2];
}}
extern "C" void run(const int* x, int* y, int n, int m, int threads) {{ k<<<3, threads>>>(x, y, n, m); }}
"""
