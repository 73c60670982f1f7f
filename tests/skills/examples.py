"""The code of the skills, taken out of their pages, and the tasks that it solves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.skills import skills
from cuda_gym.tasks.files import task_from_file
from cuda_gym.tasks.registry import load_task

FOLDER = Path(__file__).parent
CORE_TASKS = {"worked_example": "core/rmsnorm_residual"}
"""Skills whose example solves a task of `core`; the others have a task of their own beside this file."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    info: str
    """What stands behind the fence: `cuda file=kernels/x.cu`, or `wrong=` where it is a mistake."""
    body: str

    @property
    def file(self) -> str | None:
        found = re.search(r"\b(?:file|wrong)=(\S+)", self.info)
        return None if found is None else found[1]

    @property
    def is_wrong(self) -> bool:
        """Whether the page shows it as a mistake."""
        return " wrong=" in self.info


def blocks(skill: str) -> list[Block]:
    """The fenced blocks of a page, without those inside of a longer fence."""
    found = re.finditer(
        r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)\n",
        skills().skills[skill].text + "\n",
        re.MULTILINE | re.DOTALL,
    )
    return [Block(info=match["info"].strip(), body=match["body"]) for match in found]


def example(skill: str) -> Submission | None:
    """The submission that a page shows; None where it shows none."""
    files = {block.file: block.body for block in blocks(skill) if block.file and not block.is_wrong}
    return Submission.of({path: body for path, body in files.items() if path}) if files else None


def task_of(skill: str) -> Task:
    """What the example of a page solves."""
    if skill in CORE_TASKS:
        return load_task(CORE_TASKS[skill])
    [path] = (FOLDER / skill).glob("*.py")
    return task_from_file(path, id=f"{skill}/{path.stem}")
