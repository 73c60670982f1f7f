"""The submission of `scale_task` on `cpu`, with something about it changed."""

from __future__ import annotations

from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.task import Submission

FORWARD = "        out = torch.empty_like(x)\n"
CALL = "        cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\n"
BODY = "out[row * columns + column] = expf(x[row * columns + column]) * weight[column];"


def model_with(body: str, *, top: str = "") -> Submission:
    """The right submission with another body of forward."""
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    head, _, _ = SCALE_MODEL.partition(FORWARD)
    return submit(top + head + indented, SCALE_KERNEL)


def kernel_with(old: str, new: str) -> Submission:
    assert old in SCALE_KERNEL
    return submit(SCALE_MODEL, SCALE_KERNEL.replace(old, new))
