from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuda_gym.cli.main import main
from cuda_gym.core.device import Device
from cuda_gym.tasks.registry import list_tasks
from cuda_gym.tasks.sizes import sized_for


def test_every_task_of_core_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "core"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for task in list_tasks("core"):
        (line,) = (line for line in lines if line.startswith(f"{task.id} "))
        assert task.title in line
        assert task.family in line
        assert task.band is not None
        assert task.band.value in line


def test_a_suite_with_a_broken_file_says_what_is_broken_and_lists_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"
    (tmp_path / "right.py").write_text(task)
    (tmp_path / "wrong.py").write_text("class Model: ...\n")
    assert main(["tasks", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert str(tmp_path / "right.py") in told.out
    assert f"broken: {tmp_path / 'wrong.py'}: " in told.err
    assert "has no function `get_inputs()`" in told.err


@pytest.mark.parametrize("device", ["cpu", "cuda:3"])
def test_with_json_every_task_has_its_sizes_and_its_hash_on_a_device_that_need_not_be_here(
    capsys: pytest.CaptureFixture[str], device: str
) -> None:
    assert main(["tasks", "core", "--json", "--device", device]) == 0
    listed = json.loads(capsys.readouterr().out)["tasks"]
    where = Device.parse(device)
    assert [(task["id"], task["sizes"], task["hash"]) for task in listed] == [
        (task.id, task.sizes_on(where), sized_for(task, where).hash) for task in list_tasks("core")
    ]


def test_a_folder_without_tasks_is_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tasks", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert f"0 tasks in '{tmp_path}'. " in told.err.replace("\n", " ")
