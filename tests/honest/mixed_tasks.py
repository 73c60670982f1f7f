"""Tasks of many types, sizes and forms of outputs; each with a right submission."""

from __future__ import annotations

from tests.conftest import submit
from tests.honest.tasks import Case

from cuda_gym.core.task import Task


def _case(name: str, reference: str, model: str, kernels: str) -> Case:
    task = Task(id=f"test/{name.replace(' ', '_')}", title=name, source=f"{_REFERENCE}{reference}")
    return Case(task=task, submission=submit(f"{_MODEL}{model}", kernels))


_REFERENCE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
_MODEL = "import torch\nimport torch.nn as nn\nimport cuda_extension as ext\n"

_TAKES_NONE = _case(
    "one element and zero size inputs",
    """\
class Model(nn.Module):
    def forward(self, a, b, e):
        return a * 2 + b, e + 1.0
def get_inputs(): return [torch.randn(1), torch.randn(33), torch.randn(0, 4)]
def get_init_inputs(): return []
""",
    """\
class ModelNew(nn.Module):
    def forward(self, a, b, e):
        out = torch.empty_like(b); oe = torch.empty_like(e)
        ext.axpb(out, a, b, b.numel())
        ext.inc(oe, e, e.numel())
        return out, oe
""",
    """\
__global__ void k(float* o, const float* a, const float* b, int n) { int i = blockIdx.x * 32 + threadIdx.x; if (i < n) o[i] = a[0] * 2 + b[i]; }
__global__ void k1(float* o, const float* a, int n) { int i = blockIdx.x * 32 + threadIdx.x; if (i < n) o[i] = a[i] + 1.f; }
extern "C" void axpb(float* o, const float* a, const float* b, int n, cudaStream_t s) { k<<<(n + 31) / 32, 32, 0, s>>>(o, a, b, n); }
extern "C" void inc(float* o, const float* a, int n, cudaStream_t s) { if (n > 0) k1<<<(n + 31) / 32, 32, 0, s>>>(o, a, n); }
""",
)

_GIVES_PASS = _case(
    "online softmax half2 and mixed outputs",
    """\
B, N = 64, 130
class Model(nn.Module):
    def forward(self, x):
        y = torch.softmax(x.float(), dim=-1)
        return y.half(), y.argmax(dim=-1), x > 0, x.float().amax(dim=-1).to(torch.bfloat16)
def get_inputs(): return [torch.randn(B, N).half()]
def get_init_inputs(): return []
""",
    """\
class ModelNew(nn.Module):
    def forward(self, x):
        B, N = x.shape
        y = torch.empty_like(x)
        idx = torch.empty(B, dtype=torch.long, device=x.device)
        pos = torch.empty(B, N, dtype=torch.bool, device=x.device)
        mx = torch.empty(B, dtype=torch.bfloat16, device=x.device)
        ext.online_softmax(y, idx, pos, mx, x, B, N)
        return y, idx, pos, mx
""",
    """\
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct MD { float m, d; int i; };
__device__ __forceinline__ MD merge(MD a, MD b) {
    bool a_first = a.m > b.m || (a.m == b.m && a.i < b.i);
    MD hi = a_first ? a : b, lo = a_first ? b : a;
    MD r; r.m = hi.m; r.i = hi.i;
    r.d = hi.d + lo.d * (lo.m == -INFINITY ? 0.f : __expf(lo.m - hi.m));
    return r;
}
__device__ MD warp_merge(MD v) {
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        MD w; w.m = __shfl_xor_sync(0xffffffff, v.m, o); w.d = __shfl_xor_sync(0xffffffff, v.d, o); w.i = __shfl_xor_sync(0xffffffff, v.i, o);
        v = merge(v, w);
    }
    return v;
}
__global__ void k(__half* y, long long* idx, bool* pos, __nv_bfloat16* mx, const __half* x, int N) {
    const __half* row = x + (size_t)blockIdx.x * N; __half* o = y + (size_t)blockIdx.x * N;
    MD v{-INFINITY, 0.f, 0x7fffffff};
    int half_n = N / 2;
    const bool aligned = (reinterpret_cast<size_t>(row) & 3) == 0;
    if (aligned) {
        const half2* r2 = reinterpret_cast<const half2*>(row);
        for (int j = threadIdx.x; j < half_n; j += blockDim.x) {
            half2 h = r2[j]; float2 f = __half22float2(h);
            v = merge(v, MD{f.x, 1.f, 2 * j}); v = merge(v, MD{f.y, 1.f, 2 * j + 1});
        }
    }
    for (int j = (aligned ? 2 * half_n : 0) + threadIdx.x; j < N; j += blockDim.x) v = merge(v, MD{__half2float(row[j]), 1.f, j});
    __shared__ MD s[32];
    v = warp_merge(v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < (blockDim.x >> 5) ? s[threadIdx.x] : MD{-INFINITY, 0.f, 0x7fffffff};
        v = warp_merge(v);
        if (threadIdx.x == 0) s[0] = v;
    }
    __syncthreads();
    v = s[0];
    float inv = 1.f / v.d;
    for (int j = threadIdx.x; j < N; j += blockDim.x) {
        float f = __half2float(row[j]);
        o[j] = __float2half_rn(__expf(f - v.m) * inv);
        pos[(size_t)blockIdx.x * N + j] = __hgt(row[j], __float2half(0.f));
    }
    if (threadIdx.x == 0) { idx[blockIdx.x] = v.i; mx[blockIdx.x] = __float2bfloat16(v.m); }
}
extern "C" void online_softmax(__half* y, int64_t* idx, bool* pos, nv_bfloat16* mx, const half* x, int B, int N, cudaStream_t stream) {
    if (B == 0) return;
    k<<<B, 128, 0, stream>>>(y, (long long*)idx, pos, mx, x, N);
}
""",
)

_GIVES_SCALES = _case(
    "int8 quantisation with scales",
    """\
R, K = 48, 100
class Model(nn.Module):
    def forward(self, x):
        s = x.abs().amax(dim=1, keepdim=True) / 127.0
        s = torch.where(s == 0, torch.ones_like(s), s)
        return torch.clamp(torch.round(x / s), -127, 127).to(torch.int8), s
def get_inputs(): return [torch.randn(R, K)]
def get_init_inputs(): return []
""",
    """\
class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor):
        q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
        s = x.new_empty((x.shape[0], 1))
        ext.quant(q, s, x, x.shape[0], x.shape[1])
        return q, s
""",
    """\
#include <stdint.h>
__inline__ __device__ float warpReduceMax(float v) { for (int m = 16; m > 0; m >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, m, 32)); return v; }
__inline__ __device__ float blockReduceMax(float v) {
    static __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    v = warpReduceMax(v);
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : -1e20f;
    return warpReduceMax(v);
}
__global__ void k(int8_t* q, float* s, const float* x, int K) {
    __shared__ float sc;
    x += (size_t)blockIdx.x * K; q += (size_t)blockIdx.x * K;
    float m = 0.f;
    for (int i = threadIdx.x; i < K; i += blockDim.x) m = fmaxf(m, fabsf(x[i]));
    m = blockReduceMax(m);
    if (threadIdx.x == 0) { float v = m / 127.0f; sc = v == 0.f ? 1.f : v; s[blockIdx.x] = sc; }
    __syncthreads();
    for (int i = threadIdx.x; i < K; i += blockDim.x) {
        float v = rintf(__fdiv_rn(x[i], sc));
        q[i] = static_cast<int8_t>(fminf(fmaxf(v, -127.f), 127.f));
    }
}
extern "C" void quant(int8_t* q, float* s, const float* x, int R, int K, cudaStream_t stream) { k<<<R, 64, 0, stream>>>(q, s, x, K); }
""",
)

_READS_BUFFERS = _case(
    "uint8 image to normalised planes",
    """\
N, H, W = 2, 24, 31
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1), persistent=False)
    def forward(self, img):
        return (img.permute(0, 3, 1, 2).float() / 255.0 - self.mean) / self.std
def get_inputs(): return [torch.randint(0, 256, (N, H, W, 3), dtype=torch.uint8)]
def get_init_inputs(): return []
""",
    """\
class ModelNew(nn.Module):
    MEAN = (0.485, 0.456, 0.406)
    STD = (0.229, 0.224, 0.225)
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor(self.MEAN).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(self.STD).view(1, 3, 1, 1), persistent=False)
    def forward(self, img):
        N, H, W, C = img.shape
        out = torch.empty((N, C, H, W), dtype=torch.float32, device=img.device)
        ext.normalise(out, img, self.mean, self.std, N, H * W)
        return out
""",
    """\
__global__ void normalise_kernel(float* __restrict__ out, const uchar3* __restrict__ img, const float* mean, const float* std_, int n, int hw) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * hw) return;
    int b = i / hw, p = i - b * hw;
    uchar3 v = img[i];
    const unsigned char c[3] = {v.x, v.y, v.z};
#pragma unroll
    for (int k = 0; k < 3; k++) out[((size_t)b * 3 + k) * hw + p] = ((float)c[k] / 255.0f - mean[k]) / std_[k];
}
extern "C" void normalise(float* out, const unsigned char* img, const float* mean, const float* std_, int n, int hw, cudaStream_t stream) {
    normalise_kernel<<<(n * hw + 127) / 128, 128, 0, stream>>>(out, reinterpret_cast<const uchar3*>(img), mean, std_, n, hw);
}
""",
)

_RETURNS_LIST = _case(
    "batchnorm with buffers and state through submodules",
    """\
N, Cc, H = 3, 8, 10
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.bn = nn.BatchNorm2d(c)
        self.act = nn.LeakyReLU(0.1)
    def forward(self, x): return self.act(self.bn(x))
class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.block = Block(c)
    def forward(self, x):
        y = self.block(x)
        return [y, {"pooled": y.mean(dim=(2, 3))}]
def get_inputs(): return [torch.randn(N, Cc, H, H)]
def get_init_inputs(): return [Cc]
""",
    """\
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.bn = nn.BatchNorm2d(c)
        self.act = nn.LeakyReLU(0.1)
class ModelNew(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.block = Block(c)
    def forward(self, x):
        n, c, h, w = x.shape
        bn = self.block.bn
        y = torch.empty_like(x); p = torch.empty((n, c), device=x.device)
        ext.bnpool(y, p, x, bn.weight, bn.bias, bn.running_mean, bn.running_var, bn.eps, self.block.act.negative_slope, n * c, c, h * w)
        return [y, {"pooled": p}]
""",
    """\
__global__ void k(float* y, float* p, const float* x, const float* g, const float* b, const float* mu, const float* var, float eps, float slope, int C, int HW) {
    int nc = blockIdx.x, c = nc % C; float inv = rsqrtf(var[c] + eps) * g[c], sh = b[c] - mu[c] * inv, acc = 0.f;
    for (int i = threadIdx.x; i < HW; i += warpSize) { float v = fmaf(x[nc * HW + i], inv, sh); v = v > 0.f ? v : v * slope; y[nc * HW + i] = v; acc += v; }
    for (int o = warpSize >> 1; o > 0; o >>= 1) acc += __shfl_down_sync(0xffffffff, acc, o, warpSize);
    if (!threadIdx.x) p[nc] = acc / HW;
}
extern "C" void bnpool(float* y, float* p, const float* x, const float* g, const float* b, const float* mu, const float* var, double eps, float slope, int NC, int C, int HW, cudaStream_t s) {
    k<<<NC, 32, 0, s>>>(y, p, x, g, b, mu, var, (float)eps, slope, C, HW);
}
""",
)

MIXED_CASES = {
    "takes one element, and none": _TAKES_NONE,
    "gives half, bfloat16, indices and truths of one pass": _GIVES_PASS,
    "gives whole numbers of eight bits and their scales": _GIVES_SCALES,
    "reads bytes, and constants from buffers": _READS_BUFFERS,
    "returns a dictionary in a list": _RETURNS_LIST,
}
"""What it does: the task, and the right submission that does it."""
