"""The right kernels that faults are made in: a solution of every `core` task, and some by blocks.

The solutions are written so that no thread waits for another, as suits the `cpu` device. Those in
`kernels/` solve some of the tasks again with barriers and shared memory, behind the same launchers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.core.task import Submission, Task
from cuda_gym.tasks.registry import load_task

__all__ = ["RightKernel", "right_kernels"]

_BY_BLOCKS = Path(__file__).parent / "kernels"


@dataclass(frozen=True, kw_only=True)
class RightKernel:
    """A submission that is right."""

    name: str
    """The id of its task, and `by blocks` for the second one of a task."""
    task: Task
    files: dict[str, str]
    """Texts by path."""

    def with_text(self, path: str, text: str) -> Submission:
        """The submission with another text for one file."""
        return Submission.of({**self.files, path: text})


@cache
def right_kernels() -> tuple[RightKernel, ...]:
    """All of them, the two of one task side by side."""
    found: list[RightKernel] = []
    for task_id in solved_tasks():
        task, files = load_task(task_id), load_solution(task_id)
        found.append(RightKernel(name=task_id, task=task, files=files))
        other = _BY_BLOCKS / f"{task_id.removeprefix('core/')}.cu"
        if other.is_file():
            texts = {f"kernels/{other.name}": other.read_text("utf-8")}
            texts["model_new.py"] = files["model_new.py"]
            found.append(RightKernel(name=f"{task_id} by blocks", task=task, files=texts))
    return tuple(found)
