"""The reference under torch.compile, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from cuda_gym.errors import MissingTool, NotAdmitted
from cuda_gym.judge.verification.machine_faults import machine_fault

__all__ = ["compile_model"]


def compile_model(model: nn.Module, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile for these shapes, and call once, on torch's present number of threads.

    Raises:
        MissingTool: there is no C++ compiler.
        MachineError: there is no memory or disk for it.
        NotAdmitted: torch.compile cannot compile it.
    """
    import torch._dynamo

    torch._dynamo.config.fail_on_recompile_limit_hit = True
    compiled: Callable[..., Any] = torch.compile(model, dynamic=False)
    try:
        with torch.no_grad():
            compiled(*inputs)
    except Exception as error:
        fault = machine_fault(error)
        if fault is not None:
            raise fault from error
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "no reason given"
        if "compiler" in reason.lower() and "cpp" in reason.lower():
            raise MissingTool(
                f"torch.compile needs a C++ compiler: {reason}. Install g++."
            ) from error
        raise NotAdmitted(
            f"torch.compile cannot compile the reference: {type(error).__name__}: {reason}"
        ) from error
    return compiled
