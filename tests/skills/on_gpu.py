"""A submission on a GPU without a judge: nvcc, the checked launchers, and a comparison in float64."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.toolchains.nvcc import NvccToolchain

SHARE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
"""The error that is allowed, as a share of the largest output."""


def worst_error_on_gpu(
    task: Task, submission: Submission, folder: Path, patch: pytest.MonkeyPatch, *, seed: int
) -> float:
    """The largest error of any output, in units of what is allowed."""
    device = torch.device("cuda", 0)
    theirs = module(task.source)
    patch.setitem(sys.modules, "cuda_extension", extension(submission, folder, device))
    ours = module(submission.text("model_new.py") or "")
    torch.manual_seed(seed)
    with torch.no_grad(), device:
        arguments = theirs["get_init_inputs"]()
        model, new = theirs["Model"](*arguments), ours["ModelNew"](*arguments)
        new.load_state_dict(model.state_dict())
        inputs = theirs["get_inputs"]()
        got = new(*inputs)
        best = model.double()(*(x.double() if x.is_floating_point() else x for x in inputs))
        torch.cuda.synchronize()
    allowed = SHARE[got.dtype] * best.abs().max()
    return float((got.double() - best).abs().max() / allowed)


def module(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "module"}
    exec(compile(source, "module.py", "exec"), namespace)
    return namespace


def extension(submission: Submission, folder: Path, device: torch.device) -> Any:
    major, minor = torch.cuda.get_device_capability(device)
    build = NvccToolchain(f"sm_{major}{minor}", BuildCache(folder)).build(submission)
    files = dict(submission.files)
    return make_extension(
        parse_launchers(files) if 'extern "C"' in "".join(files.values()) else (),
        ctypes.CDLL(build.library),
        device=device,
        stream=lambda: torch.cuda.current_stream().cuda_stream,
        take_error=lambda: None,
        allowed_library=(),
        on_library_call=lambda _: None,
        kernels=parse_kernels(files),
    )
