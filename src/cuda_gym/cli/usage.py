"""Reads the options of a verb; what makes no sense becomes one error, as everything else that goes wrong.

tyro tells it in a box of 80 columns, with colours where the output is a terminal. Whoever asked for
JSON, or reads a log, wants the words alone.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Sequence
from textwrap import dedent
from typing import TypeVar

import tyro

from cuda_gym.cli.exit_codes import UsageError

__all__ = ["read_options"]

_Verb = TypeVar("_Verb")

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(r"^ *[─-]{3,}$", re.MULTILINE)
_POINTER = "For full helptext"
"""How the part begins that names `--help`."""


def read_options(verb: type[_Verb], name: str, typed: Sequence[str]) -> _Verb:
    """A verb as it was typed.

    Args:
        verb: What is made.
        name: What it is called on the command line.
        typed: What stands behind its name.

    Raises:
        UsageError: an option is missing, unknown, or has no value that fits.
        SystemExit: its help was asked for, and printed.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(
                verb,
                prog=f"cuda-gym {name}",
                args=typed,
                config=(
                    tyro.conf.FlagCreatePairsOff,
                    tyro.conf.OmitArgPrefixes,
                    tyro.conf.DisallowNone,
                ),
            )
    except SystemExit as end:
        if not end.code:
            raise
    raise UsageError(f"{_words(said.getvalue())}\n`cuda-gym {name} --help` lists what there is.")


def _words(box: str) -> str:
    """What stands in a box below its title; where the output is not in UTF-8, it has no sides."""
    lines = [line.strip("│╰╯").rstrip() for line in _COLOUR.sub("", box).splitlines()[1:]]
    parts = [dedent(part).strip("\n") for part in _RULE.split("\n".join(lines))]
    return "\n".join(part for part in parts if part and not part.startswith(_POINTER))
