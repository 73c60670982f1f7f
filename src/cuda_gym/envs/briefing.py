"""What an agent finds before its first turn: the task, the contract, the tools, the budget, a folder.

No time, no path and nothing random is in it, so that it is the same whenever the task is the same.
"""

from __future__ import annotations

from pathlib import Path

from cuda_gym.core import Device, Submission, Task
from cuda_gym.envs.actions import HOW_TO_ACT
from cuda_gym.envs.signatures import first_sentence
from cuda_gym.envs.skeleton import skeleton_of
from cuda_gym.envs.tools import TOOL_NAMES, Tools, skills
from cuda_gym.envs.workspace import Workspace

__all__ = ["first_text", "open_workspace"]

_PAYS = {
    "speedup": "the verified speed-up over torch.compile, 0 without a right kernel",
    "log_speedup": "the doublings over torch.compile, at least 1 for any right kernel",
    "milestone": "at the end: 2 for right, 3 for faster than eager, 4 for faster than torch.compile too",
}

_CONTRACT = """\
- model_new.py defines `class ModelNew` with the constructor and state_dict of `Model`. It starts as a
  skeleton. In forward it may allocate (torch.empty, torch.empty_like), take views, and call kernels;
  {library}
- kernels/*.cu hold CUDA C++. Every `extern "C" void name(float* out, const float* in, int n, ...,
  cudaStream_t stream)` is called as `cuda_extension.name(out, in_, n, ...)` after
  `import cuda_extension`; the stream is filled in. No pybind11, no torch headers.
- It must be right on hidden inputs: other values, other scales, sometimes other shapes. The
  inputs may not be changed. What is timed is checked too."""


def first_text(task: Task, device: Device, *, reward: str, max_turns: int) -> str:
    """The first observation."""
    tools = "\n".join(f"- {name}: {first_sentence(getattr(Tools, name))}" for name in TOOL_NAMES)
    return (
        f"Task {task.id}: {task.title}\n"
        f"Write CUDA kernels that compute what `Model` computes, faster than torch.compile on "
        f"device {device}.\n"
        f"You have {max_turns} turn{'s' if max_turns != 1 else ''}. An episode pays {_PAYS[reward]}. "
        f"`submit` or the last turn ends it: the best submission is judged afresh.\n\n"
        f"Rules\n{_rules(task)}\n{_about(device)}\n"
        f"Tools\n{tools}\n\n"
        f"One action a turn\n{HOW_TO_ACT}\n\n"
        f"model.py\n```python\n{task.source.rstrip()}\n```"
    )


def open_workspace(task: Task, device: Device, path: Path | None) -> Workspace:
    """A workspace of the task.

    Args:
        task: What is to be computed.
        device: Named in its SKILL.md.
        path: Where; None makes a temporary folder.

    Raises:
        StorageError: the folder is in use, not writable, or holds something else.
    """
    fixed = {"SKILL.md": _skill(task, device), "model.py": task.source}
    start = Submission.of({"model_new.py": skeleton_of(task.source)})
    return Workspace(fixed=fixed, start=start, path=path)


def _skill(task: Task, device: Device) -> str:
    """The rules, for whoever opens the folder."""
    return (
        f"# {task.title}\n\nTask {task.id} on device {device}. `model.py` is the reference and stays as "
        f"it is; `model_new.py` and `kernels/` are yours.\n\n{_rules(task)}\n\n"
        "`read_skill` lists what else there is to learn.\n"
    )


def _about(device: Device) -> str:
    """Where to read what is special about a device; empty where nothing is."""
    name = f"{device.kind}_device"
    return (
        f"- `read_skill` with name `{name}` says what differs on {device}.\n"
        if name in skills()
        else ""
    )


def _rules(task: Task) -> str:
    if task.library:
        calls = ", ".join(f"cuda_extension.library.{name}" for name in sorted(task.library))
        library = f"no other torch operators; {calls} may be used here."
    else:
        library = "no other torch operators."
    return _CONTRACT.format(library=library)
