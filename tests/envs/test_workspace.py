from __future__ import annotations

import gc
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_gym.core.task import Submission
from cuda_gym.envs.workspace import MAX_FILE_BYTES, MAX_FILES, Workspace
from cuda_gym.errors import StorageError, WorkspaceError

FIXED = {"SKILL.md": "skill", "model.py": "class Model: ..."}
START = Submission.of({"model_new.py": "start\n"})


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    workspace = Workspace(fixed=FIXED, start=START, path=tmp_path / "work")
    yield workspace
    workspace.close()


def test_it_starts_with_the_task_and_freezes_what_may_be_edited(workspace: Workspace) -> None:
    assert [(e.path, e.editable) for e in workspace.entries()] == [
        ("SKILL.md", False),
        ("model.py", False),
        ("model_new.py", True),
    ]
    workspace.write("kernels/sub/a.cu", "µ")
    assert workspace.freeze() == Submission.of({"model_new.py": "start\n", "kernels/sub/a.cu": "µ"})


def test_restoring_removes_what_came_later(workspace: Workspace) -> None:
    workspace.write("kernels/a.cu", "1")
    before = workspace.freeze()
    workspace.write("kernels/b.cu", "2")
    workspace.write("kernels/a.cu", "3")
    workspace.restore(before)
    assert workspace.freeze() == before


@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("../x.cu", "leaves the workspace"),
        ("kernels/../../x.cu", "leaves the workspace"),
        ("/etc/passwd", "leaves the workspace"),
        ("", "leaves the workspace"),
        (".", "leaves the workspace"),
        ("model.py", "is fixed"),
        ("./model.py", "is fixed"),
        ("SKILL.md", "is fixed"),
        ("other.py", "no place"),
        ("kernels", "no place"),
        ("kernels/a.py", "no place"),
        ("kernels/.cu", "no place"),
        ("kernels/.hidden/a.cu", "no place"),
        ("model_new.py/a.cu", "no place"),
        ("kernels/a\x00.cu", "no file name"),
        ("kernels/a\n.cu", "no file name"),
        ("kernels/" + "a" * 300 + ".cu", "at most 200"),
        ("kernels/" + "µ" * 150 + ".cu", "no file name"),
    ],
)
def test_paths_that_may_not_be_written_say_why(workspace: Workspace, path: str, fact: str) -> None:
    with pytest.raises(WorkspaceError, match=fact):
        workspace.write(path, "x")
    assert workspace.freeze() == START


def test_size_and_number_of_files_are_bounded(workspace: Workspace) -> None:
    workspace.write("kernels/big.cu", "x" * MAX_FILE_BYTES)
    with pytest.raises(WorkspaceError, match="1,048,577 bytes"):
        workspace.write("kernels/big.cu", "x" * (MAX_FILE_BYTES + 1))
    for i in range(MAX_FILES - 2):
        workspace.write(f"kernels/{i}.cu", "")
    with pytest.raises(WorkspaceError, match="at most 64"):
        workspace.write("kernels/more.cu", "")
    workspace.write("kernels/0.cu", "still editable")


def test_a_folder_that_is_a_link_is_not_entered(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.cu").write_text("secret")
    (workspace.path / "kernels").symlink_to(outside)
    for attempt in (
        lambda: workspace.read("kernels/a.cu"),
        lambda: workspace.write("kernels/a.cu", "mine"),
        lambda: workspace.edit("kernels/a.cu", "secret", "mine"),
        workspace.freeze,
        workspace.entries,
    ):
        with pytest.raises(WorkspaceError, match="link"):
            attempt()
    assert (outside / "a.cu").read_text() == "secret"


def test_a_fixed_file_that_became_a_link_is_not_followed(workspace: Workspace) -> None:
    (workspace.path / "model.py").unlink()
    (workspace.path / "model.py").symlink_to("/etc/hostname")
    with pytest.raises(WorkspaceError, match="link"):
        workspace.read("model.py")


def test_pipes_sockets_and_folders_are_not_opened(workspace: Workspace) -> None:
    workspace.write("kernels/a.cu", "")
    os.mkfifo(workspace.path / "kernels/pipe.cu")
    with pytest.raises(WorkspaceError, match="a pipe"):
        workspace.read("kernels/pipe.cu")
    with pytest.raises(WorkspaceError, match="a pipe"):
        workspace.freeze()
    (workspace.path / "kernels/pipe.cu").unlink()
    (workspace.path / "kernels/dir.cu").mkdir()
    with pytest.raises(WorkspaceError, match="a folder"):
        workspace.read("kernels/dir.cu")


def test_an_edit_must_match_exactly_once(workspace: Workspace) -> None:
    workspace.write("kernels/a.cu", "one two one")
    with pytest.raises(WorkspaceError, match="2 times"):
        workspace.edit("kernels/a.cu", "one", "1")
    with pytest.raises(WorkspaceError, match="does not contain"):
        workspace.edit("kernels/a.cu", "three", "3")
    with pytest.raises(WorkspaceError, match="does not contain"):
        workspace.edit("kernels/a.cu", "", "3")
    assert workspace.edit("kernels/a.cu", "one", "1", replace_all=True) == 2
    assert workspace.read("kernels/a.cu") == "1 two 1"


def test_a_second_session_in_one_folder_is_told(workspace: Workspace) -> None:
    with pytest.raises(StorageError, match=r"work' is in use"):
        Workspace(fixed=FIXED, start=START, path=workspace.path)
    workspace.close()
    Workspace(fixed=FIXED, start=START, path=workspace.path).close()


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(StorageError, match=r"thesis\.tex"):
        Workspace(fixed=FIXED, start=START, path=tmp_path)
    assert {p.name for p in tmp_path.iterdir()} - {".lock"} == {"thesis.tex"}


@pytest.mark.parametrize("path", ["/proc/none", f"{__file__}/below", __file__])
def test_a_folder_that_cannot_be_had_is_no_agents_fault(path: str) -> None:
    with pytest.raises(StorageError, match="cannot be made or written"):
        Workspace(fixed=FIXED, start=START, path=Path(path))


def test_a_temporary_folder_is_gone_after_closing_twice() -> None:
    workspace = Workspace(fixed=FIXED, start=START)
    path = workspace.path
    assert path.is_dir()
    workspace.close()
    workspace.close()
    assert not path.exists()


def test_a_write_that_fails_keeps_the_old_content(workspace: Workspace) -> None:
    """A bound on file size stands for a full disk: the kernel refuses in the middle of a write."""
    workspace.write("kernels/a.cu", "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StorageError, match="cannot be written"):
            workspace.write("kernels/a.cu", "n" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert workspace.read("kernels/a.cu") == "old"
    assert [p.name for p in (workspace.path / "kernels").iterdir()] == ["a.cu"]


def test_a_forgotten_temporary_workspace_is_removed_with_its_last_reference() -> None:
    path = Workspace(fixed=FIXED, start=START).path
    gc.collect()
    assert not path.exists()


def test_a_forked_copy_leaves_the_folder_to_its_owner() -> None:
    workspace = Workspace(fixed=FIXED, start=START)
    child = os.fork()
    if child == 0:
        workspace.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert workspace.freeze() == START
    workspace.close()
