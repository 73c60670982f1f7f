"""The nouns as plain data, and their hashes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

__all__ = ["as_plain", "digest"]


def as_plain(value: Any) -> Any:
    """Any noun as dicts, lists, strings and numbers, ready for `json.dumps`.

    >>> from cuda_gym.core.findings import Diagnostic, Severity
    >>> as_plain(Diagnostic(severity=Severity.ERROR, message="no", file="a.cu", line=3))["line"]
    3
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def digest(content: Any) -> str:
    """A short content hash: 16 hexadecimal digits of SHA-256 over canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
