"""What a reference remembers between runs: small JSON files in a folder, written atomically.

A record that cannot be read is no record, and one that cannot be written (a full disk, a folder
without permission) costs time at the next start, nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def load_record(folder: Path, key: str) -> Mapping[str, object] | None:
    """The JSON object under a key; None where there is none that can be read."""
    try:
        plain = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return plain if isinstance(plain, dict) else None


def save_record(folder: Path, key: str, plain: Mapping[str, object]) -> None:
    """Remember a JSON object under a key."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder, suffix=".partial")
        partial = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(plain, file)
            partial.replace(folder / f"{key}.json")
        except OSError:
            partial.unlink()
            raise
