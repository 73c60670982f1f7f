from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.cli.submission_folder import read_submission
from cuda_gym.envs.workspace import MAX_FILE_BYTES, MAX_FILES
from cuda_gym.errors import WorkspaceError


def folder_of(path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def test_what_an_agent_may_edit_is_read_and_nothing_else(tmp_path: Path) -> None:
    files = {"model_new.py": "a", "kernels/x.cu": "b", "kernels/deep/y.cuh": "c"}
    others = {"model.py": "", "notes.md": "", "kernels/x.o": "", "kernels/.hidden.cu": ""}
    submission = read_submission(folder_of(tmp_path, {**files, **others}))
    assert dict(submission.files) == files


def test_a_link_is_refused_and_what_it_points_to_stays_unread(tmp_path: Path) -> None:
    secret = folder_of(tmp_path / "elsewhere", {"secret": "hidden seed"}) / "secret"
    folder = folder_of(tmp_path / "folder", {"kernels/x.cu": ""})
    (folder / "model_new.py").symlink_to(secret)
    with pytest.raises(WorkspaceError, match=r"model_new\.py") as refusal:
        read_submission(folder)
    assert "hidden seed" not in str(refusal.value)


def test_a_folder_of_kernels_that_is_a_link_is_refused(tmp_path: Path) -> None:
    elsewhere = folder_of(tmp_path / "elsewhere", {"x.cu": ""})
    folder = folder_of(tmp_path / "folder", {"model_new.py": ""})
    (folder / "kernels").symlink_to(elsewhere)
    with pytest.raises(WorkspaceError, match="kernels"):
        read_submission(folder)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    folder_of(tmp_path, {"kernels/x.cu": ""})
    os.mkfifo(tmp_path / "model_new.py")
    with pytest.raises(WorkspaceError, match="a pipe"):
        read_submission(tmp_path)


def test_too_much_is_refused(tmp_path: Path) -> None:
    large = folder_of(tmp_path / "large", {"kernels/x.cu": " " * (MAX_FILE_BYTES + 1)})
    with pytest.raises(WorkspaceError, match="bytes"):
        read_submission(large)
    many = folder_of(tmp_path / "many", {f"kernels/{i}.cu": "" for i in range(MAX_FILES + 1)})
    with pytest.raises(WorkspaceError, match=f"at most {MAX_FILES}"):
        read_submission(many)


def test_a_folder_that_is_none_is_a_mistake_of_whoever_typed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be opened"):
        read_submission(tmp_path / "missing")
    with pytest.raises(UsageError, match="cannot be opened"):
        read_submission(folder_of(tmp_path, {"file": ""}) / "file")


def test_a_single_file_is_a_submission_whatever_its_name(tmp_path: Path) -> None:
    folder_of(tmp_path, {"19_ReLU.py": "a", "model_new.py": "b"})
    assert read_submission(tmp_path / "19_ReLU.py").files == (("model_new.py", "a"),)


def test_the_fixed_files_of_a_published_folder_are_read(tmp_path: Path) -> None:
    files = {"binding.cpp": "a", "binding_registry.h": "b", "kernels/x_binding.cpp": "c"}
    assert dict(read_submission(folder_of(tmp_path, {**files, "other.cpp": ""})).files) == files
