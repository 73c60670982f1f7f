"""A regular-expression search that ends: a pattern that explodes is stopped with its process.

Python's `re` can take exponential time and cannot be interrupted, so patterns run in a process of
their own with a deadline; plain text, the usual case, is searched here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from cuda_gym.errors import BadAction

__all__ = ["Hit", "search"]

MAX_PATTERN_CHARS = 500
MAX_HITS = 50
DEADLINE_S = 2.0
_SPECIAL = frozenset(r".^$*+?{}[]\|()")

_CHILD = """
import json, re, sys
request = json.load(sys.stdin)
try:
    pattern = re.compile(request["pattern"])
except (re.error, OverflowError, RecursionError, MemoryError) as error:
    json.dump({"error": str(error)}, sys.stdout)
    sys.exit()
hits = []
for path, text in request["files"].items():
    for number, line in enumerate(text.split("\\n"), start=1):
        if len(hits) <= request["limit"] and pattern.search(line):
            hits.append([path, number, line[:300]])
json.dump({"hits": hits}, sys.stdout)
"""


@dataclass(frozen=True)
class Hit:
    """One line that matches."""

    path: str
    line: int
    text: str


def search(pattern: str, files: Mapping[str, str]) -> tuple[Hit, ...]:
    r"""The lines that match, at most one more than `MAX_HITS`.

    Raises:
        BadAction: the pattern is empty, too long, no regular expression, or takes too long.

    >>> search("a.c", {"x.cu": "xyz\nabc"})
    (Hit(path='x.cu', line=2, text='abc'),)
    """
    if not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise BadAction(
            f"A pattern has 1 to {MAX_PATTERN_CHARS} characters; this one has {len(pattern):,}."
        )
    if not _SPECIAL & set(pattern):
        return _search_text(pattern, files)
    request = {"pattern": pattern, "files": dict(files), "limit": MAX_HITS}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadAction(
            f"The pattern {pattern[:60]!r} was stopped after {DEADLINE_S:.0f} s. "
            "Use one without nested repetitions, or plain text."
        ) from None
    reply = json.loads(done.stdout or b'{"error": "it broke the search"}')
    if "error" in reply:
        raise BadAction(
            f"{pattern[:60]!r} is no regular expression of Python: {reply['error']}. "
            "Put a backslash before (, [, *, +, ? and . that are meant literally."
        )
    return tuple(Hit(*hit) for hit in reply["hits"])


def _search_text(text: str, files: Mapping[str, str]) -> tuple[Hit, ...]:
    hits = [
        Hit(path, number, line[:300])
        for path, content in files.items()
        if text in content
        for number, line in enumerate(content.split("\n"), start=1)
        if text in line
    ]
    return tuple(hits[: MAX_HITS + 1])
