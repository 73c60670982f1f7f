from __future__ import annotations

import ast

import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.errors import BadTask
from cuda_gym.tasks.files import task_from_source
from cuda_gym.tasks.registry import list_tasks
from cuda_gym.tasks.sizes import constants_of, sized_for

SOURCE = """\
TASK = {"sizes": {"cuda": {"batch_size": 65536, "width": 7}}}
class Model: ...
s = "µ"; batch_size = 1_024  # rows
width = 32
def get_inputs(): ...
def get_init_inputs(): return [batch_size]
"""
WRITTEN = SOURCE.partition("\n")[2]


def _sized(source: str, device: Device) -> str:
    return sized_for(task_from_source(source, id="a/b", origin="b", title="b"), device).source


def test_a_device_gets_the_sizes_that_the_task_names_for_it() -> None:
    changed = WRITTEN.replace("1_024", "65536").replace("width = 32", "width = 7")
    assert _sized(SOURCE, Device("cuda", 1)) == changed


def test_another_device_gets_the_task_as_it_is_written() -> None:
    assert _sized(SOURCE, Device("cpu")) == WRITTEN


def test_another_size_is_another_task() -> None:
    task = task_from_source(SOURCE, id="a/b", origin="b", title="b")
    assert sized_for(task, Device("cuda")).hash != task.hash


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("{'cuda': {'batch': 5}}", r"names 'batch', .*`batch = <number>`.* mean 'batch_size'"),
        ("{'tpu': {'batch_size': 5}}", r"it must be as in \{'cuda'"),
        ("{'cuda': {'batch_size': 0}}", r"it must be as in \{'cuda'"),
        ("{'cuda': {'batch_size': True}}", r"it must be as in \{'cuda'"),
        ("[1]", r"it must be as in \{'cuda'"),
    ],
)
def test_sizes_that_fit_no_constant_are_refused(sizes: str, message: str) -> None:
    source = SOURCE.replace(SOURCE.split("\n", 1)[0], f"TASK = {{'sizes': {sizes}}}")
    with pytest.raises(BadTask, match=message):
        _sized(source, Device("cpu"))


@pytest.mark.parametrize("task", list_tasks("core"), ids=lambda task: task.id)
def test_every_core_task_is_larger_on_a_gpu(task: Task) -> None:
    here = constants_of(ast.parse(task.source))
    there = task.sizes_on(Device("cuda"))
    assert there
    assert all(size >= int(str(here[name].value)) for name, size in there.items())
