"""Convolutions in two and three dimensions by torch's own kernels, past its dispatch table.

cuDNN on a GPU and MKL-DNN on `cpu`, for the number formats that they have there. Everything else is done
by torch's kernels that lay out what each output needs as a column, sample by sample, and multiply:
right everywhere, and slow.

Covered: groups, by one call for each where the library does not know them. Not covered: convolutions
whose layout is by pixels (channels last); they are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from cuda_gym.judge.toolchains.cuda_library_kernels import Kernel, TorchKernels

__all__ = ["Convolve", "Geometry", "make_convolve"]


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """How a filter is moved over its input."""

    stride: Sequence[int]
    """For each dimension: from one place to the next."""
    padding: Sequence[int]
    """For each dimension: zeros at both ends."""
    dilation: Sequence[int]
    """For each dimension: from one weight to the next."""
    groups: int
    """Parts of the channels that do not see each other."""

    def with_height(self) -> Geometry:
        """The same for a picture of height one."""
        return Geometry(
            stride=[1, *self.stride],
            padding=[0, *self.padding],
            dilation=[1, *self.dilation],
            groups=self.groups,
        )


Convolve = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor | None, Geometry, torch.Tensor | None], torch.Tensor
]
"""Given x (N, C, ...), weight (K, C / groups, ...), bias (K) or None, how it is moved, and where to write.

Gives a new tensor where it cannot write to the last.
"""


def make_convolve(kernels: TorchKernels) -> Convolve:
    """A convolution of arguments that have been checked; what it gives back is contiguous."""
    if kernels.device.type == "cpu":
        return _on_cpu(kernels)
    return _on_gpu(kernels)


def _on_cpu(kernels: TorchKernels) -> Convolve:
    by_columns = _by_columns(kernels)
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return by_columns
    mkldnn, dtypes = kernels.take("mkldnn_convolution"), _mkldnn_dtypes()

    def convolve(
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        geometry: Geometry,
        out: torch.Tensor | None,
    ) -> torch.Tensor:
        # There a filter for each channel is copied through the table, into another layout.
        is_deep = x.dim() == 5 and geometry.groups > 1 and weight.shape[1] == 1
        if x.dtype not in dtypes or is_deep:
            return by_columns(x, weight, bias, geometry, out)
        return mkldnn(
            kernels.dense(x),
            kernels.dense(weight),
            None if bias is None else kernels.dense(bias),
            geometry.padding,
            geometry.stride,
            geometry.dilation,
            geometry.groups,
        )

    return convolve


def _on_gpu(kernels: TorchKernels) -> Convolve:
    by_columns = _by_columns(kernels)
    if not torch.backends.cudnn.is_available():  # type: ignore[no-untyped-call]
        return by_columns
    cudnn, cudnn_into = kernels.take("cudnn_convolution"), kernels.take("cudnn_convolution.out")
    add = kernels.take("add_.Tensor")

    def convolve(
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        geometry: Geometry,
        out: torch.Tensor | None,
    ) -> torch.Tensor:
        if x.dtype is torch.bfloat16 and not _has_bfloat16(x.device):
            return by_columns(x, weight, bias, geometry, out)
        arguments = (
            kernels.dense(x),
            kernels.dense(weight),
            geometry.padding,
            geometry.stride,
            geometry.dilation,
            geometry.groups,
            False,  # trying out what is fastest would be timed as work of the submission
            False,
            kernels.allow_tf32,
        )
        y = cudnn(*arguments) if out is None else cudnn_into(*arguments, out=out)
        return y if bias is None else add(y, _for_channels(bias, y))

    return convolve


def _by_columns(kernels: TorchKernels) -> Convolve:
    by_rank: dict[int, Kernel] = {
        2: kernels.product("slow_conv_dilated2d"),
        3: kernels.product("slow_conv_dilated3d"),
    }
    add = kernels.take("add_.Tensor")

    def convolve(
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        geometry: Geometry,
        _out: torch.Tensor | None,
    ) -> torch.Tensor:
        kernel_size, groups = list(weight.shape[2:]), geometry.groups
        parts = [
            by_rank[len(kernel_size)](
                kernels.dense(x_part),
                kernels.dense(weight_part),
                kernel_size,
                None,
                geometry.stride,
                geometry.padding,
                geometry.dilation,
            )
            for x_part, weight_part in zip(x.chunk(groups, 1), weight.chunk(groups, 0), strict=True)
        ]
        y = parts[0]
        if groups > 1:
            y = kernels.empty((x.shape[0], weight.shape[0], *y.shape[2:]), x.dtype)
            for target, part in zip(y.chunk(groups, 1), parts, strict=True):
                kernels.copy(target, part)
        return y if bias is None else add(y, _for_channels(bias, y))

    return convolve


def _for_channels(bias: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """As a view with one number for each channel of y."""
    return bias.view(-1, *[1] * (y.dim() - 2))


def _mkldnn_dtypes() -> frozenset[torch.dtype]:
    """What MKL-DNN convolves on this processor."""
    dtypes = {torch.float32}
    if torch.ops.mkldnn._is_mkldnn_bf16_supported():
        dtypes.add(torch.bfloat16)
    if torch.ops.mkldnn._is_mkldnn_fp16_supported():
        dtypes.add(torch.float16)
    return frozenset(dtypes)


def _has_bfloat16(device: torch.device) -> bool:
    """Whether cuDNN convolves bfloat16 there: from compute capability 8.0 on."""
    return torch.cuda.get_device_capability(device) >= (8, 0)
