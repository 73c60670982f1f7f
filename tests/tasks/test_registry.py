from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cuda_gym.core.task import Band
from cuda_gym.errors import BadTask, UnknownTask
from cuda_gym.tasks.kernelbench import VARIABLE
from cuda_gym.tasks.registry import list_suites, list_tasks, load_suite, load_task

TASK = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"


@pytest.fixture(autouse=True)
def _no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "no checkout"))


def test_every_task_is_loaded_by_its_id() -> None:
    assert all(load_task(task.id) == task for task in list_tasks())


def test_core_has_at_least_thirty_different_tasks_in_three_bands() -> None:
    assert list_suites() == ("core",)
    assert list_tasks() == list_tasks("core")
    assert len({task.hash for task in list_tasks("core")}) >= 30
    assert {task.band for task in list_tasks("core")} == set(Band)
    assert load_suite("core").broken == ()


def test_a_path_is_a_task(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(TASK)
    assert load_task(str(path)).source == TASK


def test_a_checkout_adds_its_suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "level2").mkdir()
    (tmp_path / "level2" / "7_Gemm.py").write_text(TASK)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert list_suites() == ("core", "kernelbench/level2")
    assert list_tasks()[-1] == load_task("kernelbench/level2/7")


@pytest.mark.parametrize("name", ["core/softmx", "softmax", "builtin/softmax", "core/Softmax"])
def test_an_unknown_name_gets_the_three_nearest(name: str) -> None:
    with pytest.raises(UnknownTask, match=rf"There is no task '{name}'\.") as caught:
        load_task(name)
    question = str(caught.value).partition("Did you mean ")[2].partition("?")[0]
    names = question.replace(" or ", ", ").split(", ")
    assert names[0] == "'core/softmax'"
    assert len(names) == 3
    assert "`cuda-gym tasks` lists all" in str(caught.value)


@pytest.mark.parametrize("name", ["", "core/", "../core/softmax", "x" * 100_000, "\0", "core"])
def test_any_other_name_is_unknown(name: str) -> None:
    with pytest.raises(UnknownTask, match="There is no task"):
        load_task(name)


def test_a_file_of_another_ending_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "task.txt"
    path.write_text(TASK)
    with pytest.raises(UnknownTask, match=r"a task where its name ends in \.py"):
        load_task(str(path))


@pytest.mark.parametrize("name", ["core", "."])
def test_a_suite_that_is_taken_for_a_task_is_explained(name: str) -> None:
    with pytest.raises(UnknownTask, match=f"a suite of that name. `cuda-gym tasks {name}` lists"):
        load_task(name)


def test_a_folder_is_a_suite_that_serves_what_is_whole(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(TASK)
    (tmp_path / "wrong.py").write_text("class Model(:\n")
    suite = load_suite(str(tmp_path))
    assert [task.id for task in suite.tasks] == [str(tmp_path / "right.py")]
    assert list_tasks(str(tmp_path)) == suite.tasks
    [broken] = suite.broken
    assert broken.id == str(tmp_path / "wrong.py")
    assert "wrong.py, line 1: invalid syntax" in broken.why


def test_a_suite_of_broken_files_alone_says_why(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("class Model(:\n")
    with pytest.raises(BadTask, match=r"has no task in 1 files: .*wrong\.py, line 1"):
        list_tasks(str(tmp_path))


def test_an_unknown_suite_gets_the_nearest() -> None:
    with pytest.raises(UnknownTask, match=r"no suite 'cores'\. Did you mean 'core'\?"):
        list_tasks("cores")


def test_listing_tasks_does_not_import_torch() -> None:
    code = (
        "import sys; from cuda_gym.tasks.registry import list_tasks; "
        "sys.exit(not list_tasks('core') or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
