"""The examples of the skills on a GPU: are they right there, and how fast?

    python benchmarks/skills_on_gpu.py [--write] [--only SKILL ...]

Each example is compiled by nvcc and runs at the sizes that its task names for `cuda`, beside eager and
torch.compile. Bandwidth is that of inputs, parameters and outputs, each counted once. There is no sandbox
and there are no hidden draws here, so these are no Verdicts.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for what the tests share

from benchmarks.core_on_gpu import device_us, is_close, tensors
from tests.skills.examples import example, task_of
from tests.skills.on_gpu import extension, module

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.skills import skills
from cuda_gym.errors import CudaGymError
from cuda_gym.tasks.sizes import sized_for

RESULTS = Path(__file__).parent / "results" / "skills_on_gpu.md"


def row(skill: str, task: Task, submission: Submission, folder: Path) -> str:
    """One line of the table."""
    device = torch.device("cuda", 0)
    sys.modules["cuda_extension"] = extension(submission, folder, device)
    theirs, ours = module(task.source), module(submission.text("model_new.py") or "")
    with torch.no_grad(), device:
        torch.manual_seed(1)
        arguments, inputs = theirs["get_init_inputs"](), theirs["get_inputs"]()
        model, new = theirs["Model"](*arguments), ours["ModelNew"](*arguments)
        new.load_state_dict(model.state_dict())
        expected = model(*inputs)
        told = "right" if is_close(new(*inputs), expected) else "WRONG"
        every = [*tensors([*inputs, expected]), *model.parameters()]
        moved = sum(t.numel() * t.element_size() for t in every)
        compiled: Any = torch.compile(model)
        us = [device_us(partial(f, *inputs)) for f in (model, compiled, new)]
    return (
        f"| {skill} | {moved / 1e6:,.0f} | {us[0]:,.0f} | {us[1]:,.0f} | {us[2]:,.0f} "
        f"| {us[1] / us[2]:.2f} | {moved / us[2] / 1e3:,.0f} | {told} |"
    )


def rows(only: list[str], folder: Path) -> list[str]:
    """The table, an example a line."""
    made = []
    for name, skill in skills().skills.items():
        submission = example(name)
        if submission is None or "cuda" not in skill.devices or (only and name not in only):
            continue
        try:
            made.append(row(name, sized_for(task_of(name), Device("cuda")), submission, folder))
        except (RuntimeError, TypeError, ValueError, CudaGymError) as error:
            made.append(f"| {name} | | | | | | | failed: {str(error).splitlines()[0]} |")
        print(made[-1], flush=True)
        torch.compiler.reset()
        torch.cuda.empty_cache()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--to", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no NVIDIA GPU here, so there is nothing to measure.")
        return
    with tempfile.TemporaryDirectory() as builds:
        table = rows(arguments.only, Path(builds))
    machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {datetime.date.today()}"
    text = "\n".join(
        [
            "# The examples of the skills on a GPU",
            "",
            f"{machine}. By `benchmarks/skills_on_gpu.py`; microseconds of the device a call.",
            "",
            "| skill | MB | eager | torch.compile | example | times as fast as torch.compile | GB/s | its outputs |",
            "|---|---|---|---|---|---|---|---|",
            *table,
            "",
        ]
    )
    if arguments.write:
        arguments.to.write_text(text)


if __name__ == "__main__":
    main()
