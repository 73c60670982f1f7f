"""Built libraries by content: one folder a build, published whole or not at all.

Covered: many processes at once (the first to publish wins), interrupted writers, corrupt entries,
full disks, a bound on the size. Without locks, so that none can be left behind. Not covered: somebody
else who writes into the folder on purpose.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs

from cuda_gym.errors import StorageError

__all__ = ["BuildCache", "cache_root", "digest"]

_DESCRIPTION = "build.json"
_PUBLISHES_PER_SWEEP = 64
_STALE_WORK_S = 3600.0


def cache_root() -> Path:
    """`CUDA_GYM_CACHE`, or the user's own cache folder."""
    return Path(os.environ.get("CUDA_GYM_CACHE") or platformdirs.user_cache_dir("cuda_gym"))


def digest(*parts: str) -> str:
    """A short name for texts; where one begins and another ends counts too."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        total.update(f"{len(data)}:".encode() + data)
    return total.hexdigest()[:32]


class BuildCache:
    """A folder of builds, each named by its key."""

    def __init__(self, folder: Path | None = None, *, limit_bytes: int = 2 << 30) -> None:
        """Use a folder, else `CUDA_GYM_CACHE`, else the user's own cache folder."""
        self.folder = (folder or cache_root()).absolute() / "builds"
        self.limit_bytes = limit_bytes
        self._publishes_until_sweep = 0

    def find(self, key: str) -> tuple[Path, dict[str, Any]] | None:
        """The folder and the description of a build; None where there is none that is whole."""
        entry = self.folder / key
        try:
            description = json.loads((entry / _DESCRIPTION).read_bytes())
            checksums = description["checksums"]
            whole = all(_checksum(entry / name) == value for name, value in checksums.items())
        except FileNotFoundError:
            if not entry.exists():
                return None
            whole = False
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            whole = False
        if not whole:
            self._discard(entry)
            return None
        # The order of eviction; a cache that may only be read keeps the one it has.
        with _ignoring_storage():
            os.utime(entry)
        return entry, description["facts"]

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A folder on the cache's own disk to build in; whatever is still in it is removed.

        Raises:
            StorageError: the folder cannot be made, or cannot be written while it is in use.
        """
        with self._reported():
            self.folder.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=".work-", dir=self.folder))
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, key: str, files: Mapping[str, Path], facts: Mapping[str, Any]) -> Path:
        """Move files into the entry of a key, by the names they get there; the entry's folder.

        Raises:
            StorageError: the cache cannot be written.
        """
        entry = self.folder / key
        with self.workspace() as folder:
            staged = folder / "entry"
            staged.mkdir()
            for name, path in files.items():
                _link_or_copy(path, staged / name)
            checksums = {name: _checksum(staged / name) for name in files}
            description = {"checksums": checksums, "facts": dict(facts)}
            (staged / _DESCRIPTION).write_text(json.dumps(description))
            try:
                staged.rename(entry)
            except OSError:
                # Another process was first; unless its entry is broken it is as good as ours.
                if self.find(key) is None:
                    staged.rename(entry)
        self._sweep_now_and_then()
        return entry

    def sweep(self) -> None:
        """Remove the builds that were not used for longest, until the rest is within the limit."""
        with _ignoring_storage():
            entries = []
            for entry in list(self.folder.iterdir()):
                # One that somebody else has just taken away does not end it.
                with _ignoring_storage():
                    used = entry.stat().st_mtime
                    if entry.name.startswith(".work-"):
                        self._remove_if_stale(entry, used)
                    else:
                        entries.append((used, _size(entry), entry))
            excess = sum(size for _, size, _ in entries) - self.limit_bytes
            for _, size, path in sorted(entries):
                if excess <= 0:
                    break
                self._discard(path)
                excess -= size

    def _sweep_now_and_then(self) -> None:
        if self._publishes_until_sweep <= 0:
            self._publishes_until_sweep = _PUBLISHES_PER_SWEEP
            self.sweep()
        self._publishes_until_sweep -= 1

    def _remove_if_stale(self, folder: Path, changed: float) -> None:
        """Remove what a killed process has left; nobody builds for an hour."""
        newest = max((p.stat().st_mtime for p in folder.iterdir()), default=changed)
        # The clock of the disk itself, which may be another machine's.
        with tempfile.TemporaryFile(dir=self.folder) as reference:
            now = os.fstat(reference.fileno()).st_mtime
        if now - max(newest, changed) > _STALE_WORK_S:
            shutil.rmtree(folder, ignore_errors=True)

    def _discard(self, entry: Path) -> None:
        """Take an entry away in one step, so that nobody finds half of it."""
        with _ignoring_storage():
            grave = Path(tempfile.mkdtemp(prefix=".work-", dir=self.folder))
            entry.rename(grave / "entry")
            shutil.rmtree(grave, ignore_errors=True)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"The build cache {self.folder} cannot be written: {error.strerror or error}. "
                "Free some space there, or let CUDA_GYM_CACHE name another folder."
            ) from error


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _size(entry: Path) -> int:
    return sum(path.stat().st_size for path in entry.iterdir())


def _link_or_copy(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


@contextmanager
def _ignoring_storage() -> Iterator[None]:
    """For tidying up: somebody else may tidy at the same time, or may own the folder."""
    try:
        yield
    except OSError:
        return
