"""Docstrings as Markdown: examples become blocks of code, and a list begins after an empty line.

In the source neither is needed, and both would only make docstrings longer.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^\S.*\n?|^ .*\n?)*)+", re.MULTILINE)
_LIST = re.compile(r"^(?!- |  )(.+)\n(?=- )", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Runs over every docstring that is read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        del kwargs
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """A docstring as the site shows it."""
    return _EXAMPLE.sub(_fenced, _LIST.sub(r"\1\n\n", docstring))


def _fenced(match: re.Match[str]) -> str:
    return f"\n```pycon\n{match[0].rstrip()}\n```\n"
