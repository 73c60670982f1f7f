"""Submissions for a judge on a GPU, and what it says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.findings import Findings
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Verdict

SUBMISSIONS = Path(__file__).parent / "cuda_submissions"
OUT = "out = torch.empty_like(x)\n"
CALL = "cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\n"
RUN_S = 5.0


def memory_info() -> tuple[int, int]:
    """Free and total bytes of the GPU."""
    cuda: Any = torch.cuda
    free, total = cuda.mem_get_info(0)
    return int(free), int(total)


def kernel(name: str) -> Submission:
    """The right model over one of the kernel files of this folder."""
    return submit(SCALE_MODEL, (SUBMISSIONS / f"{name}.cu").read_text())


def model_with(body: str, *, kernel: str = SCALE_KERNEL) -> Submission:
    """The right kernel under another body of forward."""
    head, _, _ = SCALE_MODEL.partition("        out = ")
    return submit(head + "".join(f"        {line}\n" for line in body.splitlines()), kernel)


def told(result: Verdict | Findings) -> str:
    findings = result.findings if isinstance(result, Verdict) else result
    return "\n".join([findings.summary, *map(str, findings.diagnostics)])
