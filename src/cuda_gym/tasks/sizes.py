"""The sizes of a task on a device: what keeps a processor busy for a millisecond is nothing to a GPU.

A task is written in the sizes of a processor. Where its `TASK` says

    "sizes": {"cuda": {"batch_size": 65536}}

the constants of that name at module level have these values on the devices of that kind. It is then
another task to the judge: the hash of a task covers its sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task

__all__ = ["constants_of", "sized_for"]


def sized_for(task: Task, device: Device) -> Task:
    """The task with the sizes it has on a device; itself where it names none for it.

    >>> from cuda_gym.tasks.registry import load_task
    >>> "batch_size = 1024" in sized_for(load_task("core/softmax"), Device("cpu")).source
    True
    """
    sizes = task.sizes_on(device)
    return replace(task, source=_with_constants(task.source, sizes)) if sizes else task


def constants_of(tree: ast.Module) -> dict[str, ast.Constant]:
    """The whole numbers that stand at module level under a name, as `batch_size = 1024`."""
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if type(node.value.value) is int and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def _with_constants(source: str, values: Mapping[str, int]) -> str:
    """The source with other values for some of its constants, and nothing else changed."""
    constants = constants_of(ast.parse(source))
    lines = source.encode().splitlines(keepends=True)  # columns of a syntax tree count bytes
    for name, value in values.items():
        node = constants[name]
        assert node.end_col_offset is not None
        line = lines[node.lineno - 1]
        before, after = line[: node.col_offset], line[node.end_col_offset :]
        lines[node.lineno - 1] = before + str(value).encode() + after
    return b"".join(lines).decode()
