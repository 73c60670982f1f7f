"""One evaluation by KernelBench, in the process that runs this file.

    python benchmarks/on_gpu/kernelbench.py CHECKOUT REFERENCE.py KERNEL.py CHECKS RUNS

The call is the one of its `scripts/run_and_check.py`. Prints one line of JSON at the end; everything
before that line is KernelBench's own. What its package imports to talk to language models is not needed
here: where such a module is not installed, an empty one stands in.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
import types
from pathlib import Path
from typing import Any

_FOR_LANGUAGE_MODELS = {"dotenv": "load_dotenv", "openai": "OpenAI", "litellm": "completion"}


def stand_in() -> None:
    """Empty modules for those that are not installed."""
    for name, attribute in _FOR_LANGUAGE_MODELS.items():
        if importlib.util.find_spec(name) is None:
            module = types.ModuleType(name)
            setattr(module, attribute, lambda *_, **__: None)
            sys.modules[name] = module


def evaluate(reference: str, kernel: str, *, checks: int, runs: int) -> dict[str, Any]:
    """KernelBench's result, and the seconds of its call."""
    torch: Any = importlib.import_module("torch")
    judge: Any = importlib.import_module("kernelbench.eval")
    start = time.perf_counter()
    result = judge.eval_kernel_against_ref(
        reference,
        kernel,
        num_correct_trials=checks,
        num_perf_trials=runs,
        measure_performance=True,
        timing_method="cuda_event",
        verbose=False,
        device=torch.device("cuda:0"),
        backend="cuda",
        precision=torch.float32,
    )
    seconds = time.perf_counter() - start
    if result is None or not result.correctness:
        return {"right": False, "call_s": seconds, "why": str(result)[:500]}
    return {
        "right": True,
        "call_s": seconds,
        "kernel_us": result.runtime * 1000.0,
        "eager_us": result.ref_runtime * 1000.0,
        "torch": torch.__version__,
    }


def main() -> None:
    checkout, reference, kernel, checks, runs = sys.argv[1:]
    sys.path[0] = str(Path(checkout) / "src")  # and not the folder of this file
    stand_in()
    told = evaluate(
        Path(reference).read_text("utf-8"),
        Path(kernel).read_text("utf-8"),
        checks=int(checks),
        runs=int(runs),
    )
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
