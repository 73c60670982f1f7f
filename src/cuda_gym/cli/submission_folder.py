"""The submission that lies in a folder: model_new.py, and what a compiler reads under kernels/.

Covered: links, devices and pipes (refused, never opened), too many or too large files, a folder
that is none. Not covered: whether the files are any good; the judge says that.
"""

from __future__ import annotations

from pathlib import Path

from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.core.task import Submission
from cuda_gym.envs.folder import Folder, Parts
from cuda_gym.envs.workspace import KERNEL_SUFFIXES, MAX_FILE_BYTES, MAX_FILES
from cuda_gym.errors import WorkspaceError

__all__ = ["read_submission"]


def read_submission(path: Path) -> Submission:
    """Read a folder as a workspace is read, without writing to it.

    Raises:
        UsageError: there is no such folder.
        WorkspaceError: a file of the submission is no ordinary one, or too large, or one too many.
    """
    try:
        folder = Folder(path)
    except OSError as error:
        raise UsageError(
            f"The folder {str(path)!r} cannot be opened: {error.strerror}. "
            "Give a folder with model_new.py and kernels/."
        ) from None
    try:
        names = folder.names()
        paths: list[Parts] = [("model_new.py",)] if "model_new.py" in names else []
        if "kernels" in names:
            paths += [parts for parts in folder.files(("kernels",)) if _is_read(parts)]
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


def _is_read(parts: Parts) -> bool:
    is_hidden = any(part.startswith(".") for part in parts)
    return parts[-1].endswith(KERNEL_SUFFIXES) and not is_hidden
