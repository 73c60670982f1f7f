"""What CUDA has and the cpu device has not: how it is spelt, what it is called, and what to do instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["FEATURES", "HEADERS", "LEGACY_WARP", "NESTED_LAUNCH", "Feature"]


@dataclass(frozen=True)
class Feature:
    """Something that a source may name."""

    pattern: str
    """Finds it in masked text; empty where a header says it."""
    name: str
    remedy: str
    """What to do without it."""


_OR_GPU = "or use a GPU device"
_LAUNCHER = 'write an extern "C" launcher that takes pointers and sizes'
FEATURES = tuple(
    (re.compile(feature.pattern), feature)
    for feature in (
        Feature(
            r"\b(?:asm|__asm__|__asm)\b",
            "inline PTX (asm)",
            f"write it with CUDA intrinsics, {_OR_GPU}",
        ),
        Feature(
            r"\bbmma_sync\b|\bwmma\s*::\s*experimental\b",
            "wmma of less than 8 bits",
            f"multiply whole numbers with __dp4a, {_OR_GPU}",
        ),
        Feature(
            r"\btexture\s*<|\bcuda(?:Texture|Surface|Mipmapped)\w+|\btex[123]D\w*\s*[<(]"
            r"|\bsurf[123]D\w*\s*[<(]|\bcuda(?:Array_t|Array|MallocArray|Malloc3DArray"
            r"|ChannelFormatDesc|CreateChannelDesc|BindTexture\w*|Memcpy\w*Array)\b",
            "texture and surface memory",
            "read through a pointer, with __ldg where it helps",
        ),
        Feature(
            r"\bthis_grid\b|\bgrid_group\b|\bcudaLaunchCooperative\w+|\bthis_multi_grid\b",
            "synchronising a grid",
            "split the kernel in two launches",
        ),
        Feature(
            r"\bthis_cluster\b|\bcluster_group\b|__cluster_dims__|\bcluster_\w+\s*\(",
            "a thread-block cluster",
            "share within a block, and launch twice to go further",
        ),
        Feature(
            r"\bcudaLaunchKernel\w*|\bcuLaunch\w+",
            "launching through a function call",
            "launch with kernel<<<grid, block>>>(...)",
        ),
        Feature(
            r"\b(?:cu(?:Init|DeviceGet|DeviceGetCount|CtxCreate|CtxSynchronize|ModuleLoad\w*"
            r"|ModuleGetFunction|MemAlloc\w*|MemFree\w*|MemcpyHtoD\w*|MemcpyDtoH\w*|TensorMap\w+)"
            r"|nvrtc[A-Z]\w+)\s*\(",
            "the driver's own interface",
            "use that of the runtime: cudaMalloc, cudaMemcpy, kernel<<<grid, block>>>(...)",
        ),
        Feature(
            r"\bcudaGraph\w+|\bcudaStream(?:Begin|End)Capture\b",
            "CUDA graphs",
            "launch the kernels one after another",
        ),
        Feature(
            r"\b__pipeline_arrive_on\b|\bcuda\s*::\s*(?:pipeline|barrier|memcpy_async)\b"
            r"|\bmake_pipeline\b|\bcp_async\w*",
            "asynchronous copying (cp.async, cuda::pipeline, cuda::barrier)",
            "copy with __pipeline_memcpy_async, or with plain loads and __syncthreads",
        ),
        Feature(
            r"\bthrust\s*::|\bcutlass\s*::|\bcute\s*::",
            "a CUDA library",
            f"write the kernel yourself, {_OR_GPU}",
        ),
        Feature(
            r"\bcub\s*::\s*(?!(?:Block(?:Reduce|Scan|Load|Store)|Warp(?:Reduce|Scan)|Sum|Max|Min|Traits"
            r"|BLOCK_\w+)\b)",
            "this part of CUB",
            f"use its BlockReduce, BlockScan, WarpReduce and WarpScan, {_OR_GPU}",
        ),
        Feature(
            r"\bcurand\w+\s*[(;&*]|\bcublas\w+\s*\(|\bcudnn\w+\s*\(|\bcufft\w+\s*\(",
            "a CUDA library",
            "write the kernel yourself, or call cuda_extension.library where the task allows it",
        ),
    )
)

HEADERS = (
    (
        re.compile(r"^(?:torch|ATen|c10|pybind11)(?:/|$)|^Python\.h$"),
        Feature("", "a PyTorch or Python header", _LAUNCHER),
    ),
    (
        re.compile(r"^(?:thrust|cutlass|cute|nv)(?:/|\.|$)"),
        Feature("", "a CUDA library", f"write the kernel yourself, {_OR_GPU}"),
    ),
    (
        re.compile(
            r"^cub/(?!(?:cub|block/block_(?:reduce|scan|load|store)|warp/warp_(?:reduce|scan)"
            r"|thread/thread_operators|util_type)\.cuh$)"
        ),
        Feature(
            "",
            "this part of CUB",
            f"use its BlockReduce, BlockScan, WarpReduce and WarpScan, {_OR_GPU}",
        ),
    ),
    (
        re.compile(r"^(?:cublas|cudnn|cufft|cusparse|cusolver|curand|nccl)"),
        Feature(
            "",
            "a CUDA library",
            "write the kernel yourself, or call cuda_extension.library where the task allows it",
        ),
    ),
    (
        re.compile(r"^cuda/(?!(?:std/)?functional$)|^cuda_(?:awbarrier|fp8|fp4)"),
        Feature("", "this CUDA header", f"write it with plain loads and __syncthreads, {_OR_GPU}"),
    ),
)

NESTED_LAUNCH = Feature("", "launching a kernel from a kernel", "launch it from the host")

LEGACY_WARP = re.compile(r"\b__(?:shfl(?:_up|_down|_xor)?|ballot|any|all)\b")
"""Warp intrinsics without a mask: programs may use them, submissions not, as on any GPU since sm_70."""
