"""The submission that lies in a folder: model_new.py, and what a compiler reads under kernels/.

A single file is a submission too: a `model_new.py`, whatever its name, that brings its kernels with it.

Covered: links, devices and pipes (refused, never opened), too many or too large files, a folder
that is none. Not covered: whether the files are any good; the judge says that.
"""

from __future__ import annotations

from pathlib import Path

from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.core.task import Submission
from cuda_gym.envs.editable_files import ROOT_FILES, is_editable
from cuda_gym.envs.folder import Folder, Parts
from cuda_gym.envs.workspace import MAX_FILE_BYTES, MAX_FILES
from cuda_gym.errors import WorkspaceError

__all__ = ["read_submission"]


def read_submission(path: Path) -> Submission:
    """Read a folder as a workspace is read, or a single file, without writing to it.

    Raises:
        UsageError: there is no such folder or file.
        WorkspaceError: a file of the submission is no ordinary one, or too large, or one too many.
    """
    if path.suffix == ".py" and path.is_file():
        return _read_file(path)
    folder = _open(path)
    try:
        names = folder.names()
        paths: list[Parts] = [(name,) for name in ROOT_FILES if name in names]
        if "kernels" in names:
            paths += [parts for parts in folder.files(("kernels",)) if is_editable(parts)]
        if len(paths) > MAX_FILES:
            raise WorkspaceError(
                f"{str(path)!r} has {len(paths)} files to judge, at most {MAX_FILES} are allowed. "
                "Put several kernels into one file."
            )
        texts = {parts: folder.read(parts, max_bytes=MAX_FILE_BYTES) for parts in paths}
    finally:
        folder.close()
    return Submission.of(
        {"/".join(parts): data.decode("utf-8", "replace") for parts, data in texts.items()}
    )


def _read_file(path: Path) -> Submission:
    folder = _open(path.parent)
    try:
        data = folder.read((path.name,), max_bytes=MAX_FILE_BYTES)
    finally:
        folder.close()
    return Submission.of({"model_new.py": data.decode("utf-8", "replace")})


def _open(path: Path) -> Folder:
    try:
        return Folder(path)
    except OSError as error:
        raise UsageError(
            f"The folder {str(path)!r} cannot be opened: {error.strerror}. "
            "Give a folder with model_new.py and kernels/, or a single model_new.py."
        ) from None
