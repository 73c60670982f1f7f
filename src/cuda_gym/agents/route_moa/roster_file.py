"""The file of a roster: TOML whose tables know the lines of their keys.

Covered: no such file, no TOML, no model, keys that are unknown or missing, values of a wrong kind, each with file, line as
far as there is one, and remedy; and the same form written.
Not covered: whether a number can be what it says, which the roster itself checks.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuda_gym.errors import RosterError, did_you_mean

__all__ = ["RosterFile", "Table", "read_tables", "written"]

_NUMBER = "a number"
_WHOLE = "a whole number"
_TEXT = "text"
_TEXTS = "a list of texts"
_EXAMPLES = {_NUMBER: "0.5", _WHOLE: "8192", _TEXT: '"small"', _TEXTS: '["maths", "code"]'}

_NEEDED = {
    "name": _TEXT,
    "input_usd_per_million": _NUMBER,
    "output_usd_per_million": _NUMBER,
    "first_token_s": _NUMBER,
    "tokens_per_s": _NUMBER,
    "context_tokens": _WHOLE,
}
_MODEL = {
    **_NEEDED,
    "base_url": _TEXT,
    "served_as": _TEXT,
    "api_key_variable": _TEXT,
    "skills": _TEXTS,
    "billing": _TEXT,
    "max_parallel": _WHOLE,
    "measured_calls": _WHOLE,
}
_ROUTER = {"usd_per_cpu_hour": _NUMBER}


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of the file."""

    values: Mapping[str, Any]
    path: Path
    lines: Mapping[str, int]
    """Of its keys, from 1, and of its header under the empty key; those that were found."""

    def place(self, key: str) -> str:
        """Where a key stands, as well as is known: `roster.toml:12`."""
        line = self.lines.get(key) or self.lines.get("")
        return f"{self.path}:{line}" if line else str(self.path)


@dataclass(frozen=True, kw_only=True)
class RosterFile:
    """What a file holds; its keys and their kinds are right."""

    models: tuple[Table, ...]
    router: Table


def read_tables(path: Path) -> RosterFile:
    """Read a file and check its keys.

    Raises:
        RosterError: with the place and the remedy.
    """
    text, whole = _parsed(path)
    for key in whole:
        if key not in ("model", "router"):
            hint = did_you_mean(key, ("model", "router"))
            raise RosterError(
                f"{path}: unknown key {key!r}.{hint} A roster has tables [[model]] and one [router]."
            )
    models, router = whole.get("model", []), whole.get("router", {})
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise RosterError(
            f"{path}: `model` is {_told(models)}; each model is a table of its own, under the header [[model]]"
        )
    if not models:
        raise RosterError(
            f"{path}: a roster needs one model or more, and there is no table [[model]] in"
            f" {len(text):,} characters; write one for each model, with {', '.join(_NEEDED)}"
        )
    if not isinstance(router, dict):
        raise RosterError(
            f"{path}: `router` is {_told(router)}; it is a table, under the header [router]"
        )
    lines = _lines(text)
    file = RosterFile(
        models=tuple(
            Table(values=values, path=path, lines=lines.get(("model", number), {}))
            for number, values in enumerate(models, start=1)
        ),
        router=Table(values=router, path=path, lines=lines.get(("router", 1), {})),
    )
    for table in file.models:
        _check_keys(table, _MODEL, _NEEDED)
    _check_keys(file.router, _ROUTER, {})
    return file


def written(models: Sequence[Mapping[str, Any]], router: Mapping[str, Any]) -> str:
    """The text of a file with these tables.

    >>> print(written([{"name": "small", "skills": ("maths",)}], {"usd_per_cpu_hour": 0.04}))
    [[model]]
    name = "small"
    skills = ["maths"]
    <BLANKLINE>
    [router]
    usd_per_cpu_hour = 0.04
    <BLANKLINE>
    """
    tables = [("[[model]]", model) for model in models] + [("[router]", router)]
    return "\n".join(
        f"{header}\n" + "".join(f"{key} = {_value(value)}\n" for key, value in values.items())
        for header, values in tables
    )


def _parsed(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RosterError(
            f"{path}: the roster cannot be read: {error.strerror}; give the path of a TOML file with a table"
            " [[model]] for each model"
        ) from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise RosterError(
            f"{path}: the roster is no UTF-8 text: byte {error.start} is {byte:#04x}; save it as UTF-8"
        ) from None
    try:
        return text, tomllib.loads(text)
    except ValueError as error:  # also of a number with thousands of digits
        raise RosterError(
            f"{path}: the roster is no TOML: {error}; mend that place: each line is a header, or key = value"
            " with texts in quotes"
        ) from None


def _lines(text: str) -> dict[tuple[str, int], dict[str, int]]:
    """Of each table, by its name and number, the lines of its keys.

    By their looks: a key inside a text of several lines is taken for one. Places are all that depends on it.
    """
    header = re.compile(r"\s*\[\[?\s*[\"']?(\w+)[\"']?\s*\]\]?")
    key = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*=")
    found: dict[tuple[str, int], dict[str, int]] = {}
    table: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if match := header.match(line):
            name = match[1]
            table = {"": number}
            found[name, 1 + sum(other == name for other, _ in found)] = table
        elif match := key.match(line):
            table.setdefault(match[1], number)
    return found


def _check_keys(table: Table, kinds: Mapping[str, str], needed: Mapping[str, str]) -> None:
    for key, value in table.values.items():
        if key not in kinds:
            raise RosterError(
                f"{table.place(key)}: unknown key {key!r}.{did_you_mean(key, kinds)}"
                f" There are {', '.join(kinds)}."
            )
        if not _is(value, kinds[key]):
            raise RosterError(
                f"{table.place(key)}: {key} is {kinds[key]}, not {_told(value)}; write it like"
                f" {key} = {_EXAMPLES[kinds[key]]}"
            )
    missing = [key for key in needed if key not in table.values]
    if missing:
        has = ", ".join(table.values) or "nothing"
        raise RosterError(
            f"{table.place('')}: a model needs {', '.join(missing)} too, and this one has {has}; write it like"
            f" {missing[0]} = {_EXAMPLES[needed[missing[0]]]}"
        )


def _told(value: object) -> str:
    return f"{str(value)[:60]!r} of type {type(value).__name__}"


def _is(value: object, kind: str) -> bool:
    if kind == _TEXTS:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind == _TEXT:
        return isinstance(value, str)
    if isinstance(value, bool):  # Python takes it for a whole number
        return False
    if isinstance(value, int):
        return -(2**63) <= value < 2**63  # as TOML has them
    return kind == _NUMBER and isinstance(value, float)


def _value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(one) for one in value)}]"
    return repr(value)
