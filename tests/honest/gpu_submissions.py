"""Right submissions of `scale_task` that only a GPU can run, and that look like something else."""

from __future__ import annotations

from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.task import Submission

_KERNEL, _, _ = SCALE_KERNEL.partition('extern "C"')
_HEAD, _, _ = SCALE_MODEL.partition("        out = ")
_SIGNATURE = """\
extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream)"""


def _launcher(body: str, kernels: str = _KERNEL) -> Submission:
    return submit(SCALE_MODEL, f"{kernels}\n{_SIGNATURE} {{\n{body}}}\n")


def _forward(body: str) -> Submission:
    return submit(_HEAD + "".join(f"        {line}\n" for line in body.splitlines()), SCALE_KERNEL)


ON_A_GPU: dict[str, Submission] = {
    "captures a graph and gives it the pointers of each call": _launcher("""\
    static cudaGraphExec_t exec = nullptr;
    static cudaStream_t side = nullptr;
    if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal);
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, side>>>(out, x, weight, columns);
    cudaStreamEndCapture(side, &graph);
    cudaGraphExecUpdateResultInfo result;
    if (exec == nullptr || cudaGraphExecUpdate(exec, graph, &result) != cudaSuccess) {
        cudaGetLastError();
        if (exec != nullptr) cudaGraphExecDestroy(exec);
        cudaGraphInstantiate(&exec, graph, 0);
    }
    cudaGraphLaunch(exec, stream);
    cudaGraphDestroy(graph);
"""),
    "has inline PTX": _launcher("""\
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
""", """\
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column >= columns) return;
    float value;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(x + row * columns + column));
    out[row * columns + column] = expf(value) * weight[column];
}
"""),
    "runs its first half on a stream of high priority": _launcher("""\
    static cudaStream_t side = nullptr;
    static cudaEvent_t begun, done;
    if (side == nullptr) {
        int least, greatest;
        cudaDeviceGetStreamPriorityRange(&least, &greatest);
        cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, greatest);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    int half = (rows + 1) / 2;
    cudaEventRecord(begun, stream);
    cudaStreamWaitEvent(side, begun, 0);
    scale_kernel<<<dim3((columns + 127) / 128, half), 128, 0, side>>>(out, x, weight, columns);
    cudaEventRecord(done, side);
    if (rows > half)
        scale_kernel<<<dim3((columns + 127) / 128, rows - half), 128, 0, stream>>>(
            out + half * columns, x + half * columns, weight, columns);
    cudaStreamWaitEvent(stream, done, 0);
"""),
    "waits for a stream of torch's that it has made": _forward("""\
if not hasattr(self, 'side'):
    self.side = torch.cuda.Stream()
out = torch.empty_like(x)
self.side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(self.side):
    cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])
torch.cuda.current_stream().wait_stream(self.side)
return out"""),
    "times itself with torch's events": _forward("""\
if not hasattr(self, 'start'):
    self.start, self.stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
out = torch.empty_like(x)
self.start.record()
cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])
self.stop.record()
return out"""),
    "waits for the device in Python": _forward("""\
out = torch.empty_like(x)
cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])
torch.cuda.synchronize()
return out"""),
}  # fmt: skip
"""A reason to suspect it: the right submission that gives it."""
