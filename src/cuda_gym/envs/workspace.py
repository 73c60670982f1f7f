"""The agent's folder: SKILL.md and model.py (fixed), model_new.py and kernels/ (the agent's).

Covered: paths that leave the folder or are fixed, too long names, too many or too large files, a
second process, a full disk (the old content stays); links and devices through `folder`. Not
covered: what the files say, and a user who edits the folder meanwhile: the next snapshot has it.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from cuda_gym.core.task import Submission
from cuda_gym.envs.editable_files import KERNEL_SUFFIXES, ROOT_FILES, is_editable
from cuda_gym.envs.folder import Folder, Parts, shown
from cuda_gym.errors import StorageError, WorkspaceError

__all__ = ["MAX_FILES", "MAX_FILE_BYTES", "MAX_PATH_CHARS", "Entry", "Workspace"]

MAX_FILES = 64
MAX_FILE_BYTES = 1 << 20
MAX_PATH_CHARS = 200

_LOCK = ".lock"
_FULL_OR_FORBIDDEN = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EIO,
        errno.EACCES,
        errno.EPERM,
        errno.EEXIST,
    }
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One file of a workspace."""

    path: str
    """Relative, with `/`."""
    num_bytes: int
    editable: bool


class Workspace:
    """A real folder with a task in it. One process at a time.

    Args:
        fixed: The files that the agent may read but not edit, by name.
        start: The files that the agent starts from.
        path: Where; None makes a temporary folder that `close` removes. A folder that was a
            workspace of this task before is continued from the files in it.

    Raises:
        StorageError: the folder is in use, not writable, or holds something else.
    """

    def __init__(
        self, *, fixed: Mapping[str, str], start: Submission, path: Path | None = None
    ) -> None:
        self.untouched = start
        """What a workspace holds before anyone wrote into it."""
        self._remove: weakref.finalize[..., Workspace] | None = None
        self._fixed = {name: _bytes(text) for name, text in fixed.items()}
        with _opened(str(path or tempfile.gettempdir())):
            if path is None:
                self.path = Path(tempfile.mkdtemp(prefix="cuda_gym-"))
                # Forgotten workspaces go too: with the object, at the latest with the interpreter.
                self._remove = weakref.finalize(self, _remove_if_ours, self.path, os.getpid())
            else:
                self.path = path.absolute()
                self.path.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path / _LOCK)
            self._take_lock()
            self._folder = Folder(self.path)
            try:
                found = self._found()
                for name, data in self._fixed.items():
                    self._folder.write((name,), data)
                self.start = found if found.files else start
                """What an episode begins with."""
                self.restore(self.start)
            except BaseException:
                self.close()
                raise

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            WorkspaceError: it is outside, missing, or no ordinary file.
        """
        return self._read(_parts(path)).decode("utf-8", "replace")

    def entries(self) -> tuple[Entry, ...]:
        """All files that an agent can read, sorted by path.

        Raises:
            WorkspaceError: there is something under kernels/ that is no ordinary file.
        """
        sizes = {name: len(data) for name, data in self._fixed.items()}
        sizes |= {"/".join(path): len(self._read(path)) for path in self._editable_paths()}
        return tuple(
            Entry(path=path, num_bytes=size, editable=path not in self._fixed)
            for path, size in sorted(sizes.items())
        )

    def freeze(self) -> Submission:
        """A snapshot of what the agent may edit.

        Raises:
            WorkspaceError: there is something under kernels/ that is no ordinary file.
        """
        contents = {"/".join(path): self._read(path) for path in self._editable_paths()}
        return Submission.of(
            {path: data.decode("utf-8", "replace") for path, data in contents.items()}
        )

    def write(self, path: str, content: str) -> None:
        """Write a whole file; the old content stays where that fails.

        Raises:
            WorkspaceError: it is outside, fixed, too large, or one file too many.
            StorageError: the disk is full or not writable.
        """
        parts = self._editable(path)
        data = _bytes(content)
        if len(data) > MAX_FILE_BYTES:
            raise WorkspaceError(
                f"{shown(path)} would have {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are "
                "allowed. Split it, or compute tables in the kernel."
            )
        present = self._editable_paths()
        if parts not in present and len(present) >= MAX_FILES:
            raise WorkspaceError(
                f"There are {len(present)} files already, at most {MAX_FILES} are allowed. "
                "Put several kernels into one file."
            )
        with _storage(path):
            self._folder.write(parts, data)

    def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> int:
        """Replace text in a file; returns the number of places.

        Raises:
            WorkspaceError: as for `write`, or `old` is not there, or there more than once.
            StorageError: the disk is full or not writable.
        """
        self._editable(path)
        text = self.read(path)
        count = text.count(old) if old else 0
        if count == 0:
            raise WorkspaceError(
                f"{shown(path)} does not contain the text to be replaced ({len(old):,} characters). "
                "It must match exactly, with blanks and line breaks; read_file shows the file."
            )
        if count > 1 and not replace_all:
            raise WorkspaceError(
                f"{shown(path)} contains the text to be replaced {count} times. "
                "Give more of its surroundings, or set replace_all."
            )
        self.write(path, text.replace(old, new))
        return count

    def restore(self, submission: Submission) -> None:
        """Make the editable files exactly those of a snapshot.

        Raises:
            WorkspaceError: there is something under kernels/ that is no ordinary file.
            StorageError: the disk is full or not writable.
        """
        wanted = {self._editable(path): _bytes(text) for path, text in submission.files}
        with _storage(str(self.path)):
            present = self._editable_paths()
            for path in present:
                if path not in wanted:
                    self._folder.remove(path)
            for path, data in wanted.items():
                if path not in present or self._read(path) != data:
                    self._folder.write(path, data)

    def close(self) -> None:
        """Let go of the folder; a temporary one is removed. Closing twice is fine."""
        self._folder.close()
        self._lock.release()
        if self._remove is not None:
            self._remove()

    def _take_lock(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StorageError(
                f"The workspace {str(self.path)!r} is in use by another session. "
                "Give each session a folder of its own, or end the other one."
            ) from None

    def _found(self) -> Submission:
        """The files of an earlier session in a given folder; none in an empty one."""
        names = self._folder.names() - {_LOCK}
        if names and (
            "model.py" not in names or self._read(("model.py",)) != self._fixed["model.py"]
        ):
            raise StorageError(
                f"The folder {str(self.path)!r} is neither empty nor a workspace of this task "
                f"(it holds {min(names)!r}). Give an empty folder."
            )
        return self.freeze()

    def _read(self, parts: Parts) -> bytes:
        return self._folder.read(parts, max_bytes=MAX_FILE_BYTES)

    def _editable(self, path: str) -> Parts:
        parts = _parts(path)
        if parts[0] in self._fixed:
            raise WorkspaceError(
                f"{shown(path)} is fixed. Edit model_new.py or files under kernels/."
            )
        if not is_editable(parts):
            raise WorkspaceError(
                f"{shown(path)} is no place for your files. Write model_new.py, or "
                f"kernels/<name> ending in {', '.join(KERNEL_SUFFIXES)}."
            )
        return parts

    def _editable_paths(self) -> list[Parts]:
        names = self._folder.names()
        kernels = self._folder.files(("kernels",)) if "kernels" in names else []
        beside = [(name,) for name in ROOT_FILES if name in names]
        return [*filter(is_editable, kernels), *beside]


def _parts(path: str) -> Parts:
    """The names on a path inside the workspace.

    Raises:
        WorkspaceError: it is none.
    """
    if len(path) > MAX_PATH_CHARS:
        raise WorkspaceError(
            f"The path {shown(path)} has {len(path):,} characters; at most {MAX_PATH_CHARS} are allowed."
        )
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or not parts:
        raise WorkspaceError(
            f"{shown(path)} leaves the workspace. Paths are relative to it: model.py, kernels/x.cu."
        )
    if not path.isprintable() or any(len(_bytes(part)) > 255 for part in parts):
        raise WorkspaceError(
            f"{shown(path)} is no file name. Use letters, digits, '_', '-' and '.'."
        )
    return parts


def _remove_if_ours(path: Path, owner: int) -> None:
    """Remove a folder, unless this is a forked copy of the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


@contextmanager
def _opened(path: str) -> Iterator[None]:
    """A folder that cannot be had is no agent's fault, whatever the reason."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"The folder {shown(path)} cannot be made or written: {error.strerror}. "
            "Give one that can."
        ) from error


@contextmanager
def _storage(path: str) -> Iterator[None]:
    """Say whose fault a failed write is."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL_OR_FORBIDDEN:
            raise WorkspaceError(f"{shown(path)} cannot be written: {error.strerror}.") from error
        raise StorageError(
            f"{shown(path)} cannot be written: {error.strerror}. The old content is kept; "
            "free some space, or give another folder."
        ) from error
