"""The kernels of `comparing.cu` in a reference's process: outputs of many calls compared, inputs looked at for changes.

Torch reads an output five times for that, and writes it once; of 400 MB that is 1.2 ms a call instead of 0.3.

Covered: outputs of float32, float16 and bfloat16; any memory of the device. Not covered: other dtypes, and who
passes (`verification/several_outputs.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from cuda_gym.judge.sandbox.cuda_kernels import POINTER, WORD, CudaKernels

__all__ = ["CudaComparing"]


class CudaComparing:
    """What compares on one GPU.

    Args:
        cubin: Machine code of `comparing.cu`.
        device: The GPU, of which this process has a context.

    Raises:
        DriverCallFailed: the driver does not take it.
    """

    def __init__(self, cubin: Path, device: torch.device) -> None:
        self._device = device
        self._kernels = CudaKernels(cubin, device, _ARGUMENTS)

    def takes(self, dtype: torch.dtype) -> bool:
        """Whether outputs of it can be compared."""
        return dtype in _NAMES

    def relative_errors(
        self,
        got: Sequence[torch.Tensor],
        want: Sequence[torch.Tensor],
        *,
        width: int,
        least_size: float,
    ) -> torch.Tensor:
        """Of each output the largest error of an element, over its size or the mean size of its row.

        Nothing is waited for. What came back is read once, so it may lie where others write.

        Args:
            got: What came back; contiguous, on the device, in the form of what is wanted.
            want: At least one, all of one form and of a dtype that is taken, with at least one element each;
                copied where it is not contiguous.
            width: Elements of a row; divides theirs.
            least_size: No element or row is taken to be smaller.

        Returns:
            A float32 an output; NaN where something is no number, or a row that is not met has no size that
            can be told.
        """
        dtype = _NAMES[want[0].dtype]
        wanted = [tensor.contiguous() for tensor in want]
        parts_of_row = -(-width // _PART)
        parts_of_output = wanted[0].numel() // width * parts_of_row
        num_parts = len(wanted) * parts_of_output
        table = self._table((o.data_ptr(), w.data_ptr()) for o, w in zip(got, wanted, strict=True))
        parts = torch.empty(num_parts, dtype=torch.float32, device=self._device)
        cut = (table.data_ptr(), num_parts, parts_of_output, parts_of_row, width)
        self._launch(f"size_up_{dtype}", num_parts, *cut, parts.data_ptr())
        sizes = parts.view(-1, parts_of_row).sum(dim=1).clamp_min_(least_size)
        sizes.masked_fill_(sizes.isinf(), math.nan)  # rounded up: any error would be none beside it
        self._launch(f"compare_{dtype}", num_parts, *cut, sizes.data_ptr(), parts.data_ptr())
        return parts.view(len(wanted), -1).amax(dim=1)

    def differ(self, twins: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> bool:
        """Whether one of some tensors, contiguous and on the device, holds other bits than its twin."""
        rows, num_shares = list[tuple[int, ...]](), 0
        for one, other in twins:
            if num_bytes := one.numel() * one.element_size():
                rows.append((one.data_ptr(), other.data_ptr(), num_bytes, num_shares))
                num_shares += -(-num_bytes // _SHARE_BYTES)
        if not rows:
            return False
        table = self._table(rows)
        found = torch.zeros(1, dtype=torch.int32, device=self._device)
        counts = (table.data_ptr(), len(rows), num_shares)
        self._launch("differ", num_shares, *counts, found.data_ptr())
        return bool(found.item())

    def _table(self, rows: Iterable[tuple[int, ...]]) -> torch.Tensor:
        return torch.tensor(list(rows), dtype=torch.int64).to(self._device)

    def _launch(self, name: str, num_warps: int, *arguments: int) -> None:
        blocks = min(self._kernels.most_blocks, -(-num_warps // _WARPS))
        self._kernels.launch(name, blocks, _WARPS * _LANES, *arguments)


_WARPS, _LANES = 8, 32
_PART, _SHARE_BYTES = 4096, 2048 * 8
"""As in `comparing.cu`."""
_NAMES = {torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16"}
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{f"size_up_{name}": (POINTER, *[WORD] * 4, POINTER) for name in _NAMES.values()},
    **{f"compare_{name}": (POINTER, *[WORD] * 4, POINTER, POINTER) for name in _NAMES.values()},
    "differ": (POINTER, WORD, WORD, POINTER),
}
