from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.errors import BadTask, UnknownTask
from cuda_gym.tasks.kernelbench import (
    VARIABLE,
    kernelbench_suite,
    kernelbench_suites,
    kernelbench_task,
)

TASK = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two levels and what else lies in such a folder."""
    names = ("level1/2_Matmul_.py", "level1/19_ReLU.py", "level1/100_Hinge.py", "level3/1_MLP.py")
    for name in names:
        path = tmp_path / "KernelBench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TASK)
    (tmp_path / "KernelBench" / "level1" / "notes.py").touch()
    (tmp_path / "KernelBench" / "changelog").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("checkout")
def test_levels_are_suites() -> None:
    assert kernelbench_suites() == ("kernelbench/level1", "kernelbench/level3")


@pytest.mark.usefixtures("checkout")
def test_tasks_come_in_the_order_of_their_numbers() -> None:
    assert [task.id for task in kernelbench_suite("kernelbench/level1").tasks] == [
        "kernelbench/level1/2",
        "kernelbench/level1/19",
        "kernelbench/level1/100",
    ]
    assert len(kernelbench_suite().tasks) == 4


@pytest.mark.usefixtures("checkout")
def test_a_number_finds_its_file() -> None:
    task = kernelbench_task("kernelbench/level1/19")
    assert (task.title, task.source) == ("ReLU", TASK)


def test_the_inner_folder_may_be_named_too(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(checkout / "KernelBench"))
    assert kernelbench_task("kernelbench/level3/1").title == "MLP"


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(
    "id",
    ["kernelbench/level1/3", "kernelbench/level9/1", "kernelbench/", "kernelbench/level1/../2"],
)
def test_an_unknown_number_gets_near_ones(id: str) -> None:
    with pytest.raises(UnknownTask, match=r"no task .*`cuda-gym tasks` lists all of them"):
        kernelbench_task(id)


@pytest.mark.usefixtures("checkout")
def test_an_unknown_level_gets_the_levels_there_are() -> None:
    with pytest.raises(UnknownTask, match=r"no suite 'kernelbench/level2'\..*level1, .*level3"):
        kernelbench_suite("kernelbench/level2")


def test_a_file_that_is_no_task_is_named(checkout: Path) -> None:
    (checkout / "KernelBench" / "level1" / "20_Broken.py").write_text("class Model: ...")
    with pytest.raises(BadTask, match=r"20_Broken\.py has no function `get_inputs\(\)`"):
        kernelbench_task("kernelbench/level1/20")


def test_a_level_with_a_broken_file_serves_the_rest_and_says_why(checkout: Path) -> None:
    (checkout / "KernelBench" / "level1" / "20_Broken.py").write_text("class Model: ...")
    level = kernelbench_suite("kernelbench/level1")
    assert [task.id.rpartition("/")[2] for task in level.tasks] == ["2", "19", "100"]
    [broken] = level.broken
    assert broken.id == "kernelbench/level1/20"
    assert "20_Broken.py has no function `get_inputs()`" in broken.why


def test_without_a_checkout_the_message_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kernelbench_suites() == ()
    with pytest.raises(UnknownTask, match=rf"~/KernelBench is none\. .*git clone .*{VARIABLE}"):
        kernelbench_task("kernelbench/level1/19")


def test_a_variable_that_names_something_else_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(UnknownTask, match=rf"{VARIABLE} names '.*gone', which is none"):
        kernelbench_suite()
