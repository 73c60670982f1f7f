"""Where a verb writes: results on the standard output, progress and errors on the other.

Covered: terminals, pipes and files. Where the standard error is no terminal there is no spinner: one
plain line says what is being waited for, once that has taken a second. With `--json` the standard
output holds one JSON document and nothing else.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

__all__ = ["FIRST_RUN", "Screen"]

FIRST_RUN = (
    "The first run of a task starts PyTorch, and torch.compile compiles the reference: about 20 s."
)

_WIDE = 240
_PATIENCE_S = 1.0
"""What takes no longer is not worth a line in a log."""


class Screen:
    """The two streams of a verb.

    Args:
        is_json: Whether results are one JSON document.
    """

    def __init__(self, *, is_json: bool = False) -> None:
        self._out = _PlainConsole(quiet=is_json, highlight=False)
        self._err = _PlainConsole(stderr=True, highlight=False)
        self._is_json = is_json

    def show(self, *renderables: RenderableType) -> None:
        """Print for a human; nothing with `--json`."""
        self._out.print(*renderables)

    def show_table(self, table: Table) -> None:
        """Print a table; where no terminal limits its width, each row on one line, as `grep` wants."""
        if self._out.is_terminal or self._is_json:
            self.show(table)
        else:
            _PlainConsole(highlight=False, width=_WIDE).print(table)

    def show_line(self, text: Text) -> None:
        """Print a line that is never broken, so that a path in it can be copied."""
        self._out.print(text, soft_wrap=True)

    def show_plain(self, text: str) -> None:
        """Write a text as it is, to be kept as a file; nothing with `--json`."""
        if not self._is_json:
            sys.stdout.write(text)
            sys.stdout.flush()

    def give(self, plain: Any) -> None:
        """Print the JSON document; nothing without `--json`."""
        if self._is_json:
            sys.stdout.write(json.dumps(plain, indent=2, ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def fail(self, message: str, *, kind: str, code: int) -> None:
        """Say why there is no result."""
        text = Text.assemble(("error: ", "bold red"), message)
        self._err.print(text, soft_wrap=not self._err.is_terminal)
        self.give({"error": {"kind": kind, "message": message, "exit_code": code}})

    def note(self, message: str) -> None:
        """Say something that is no result."""
        self._err.print(Text(message, style="dim"), soft_wrap=not self._err.is_terminal)

    @contextmanager
    def waiting(self, what: str, *, why_long: str = "") -> Iterator[None]:
        """Show what is being waited for, and for how long.

        Args:
            what: At most 60 characters, so that it fits beside the clock.
            why_long: A sentence, where more than some seconds must be expected.
        """
        if self._err.is_terminal:
            if why_long:
                self.note(why_long)
            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            with Progress(*columns, console=self._err, transient=True) as progress:
                progress.add_task(what, total=None)
                yield
            return
        timer = threading.Timer(_PATIENCE_S, self.note, [f"{what} ... {why_long}".rstrip()])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class _PlainConsole(Console):
    """A console that leaves it to the verb what becomes of a reader that went away."""

    def on_broken_pipe(self) -> None:
        """Go on raising, where rich would exit with 1: that stands for something else here."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
