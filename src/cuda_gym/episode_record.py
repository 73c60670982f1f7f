"""Episodes in a file, one a line, to be read back as they were played.

A line is the JSON of one `Episode`, so a file grows by appending, any tool for JSON lines reads it,
and a run that stops keeps what it has.

Covered: every field of an episode, numbers that are none, text of any language. Left out on purpose:
paths of the machine that it was played on, which mean nothing elsewhere. Not covered: a record that
somebody changed; only the judge makes Verdicts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath

from pydantic import TypeAdapter, ValidationError

from cuda_gym.core.episode import Episode
from cuda_gym.core.plain import as_plain
from cuda_gym.core.verdict import Verdict

__all__ = ["append_episode", "read_episodes"]


def append_episode(path: Path, episode: Episode) -> None:
    """Add an episode to a file; the file is made where there is none.

    Raises:
        OSError: it cannot be written.
    """
    line = json.dumps(as_plain(_without_paths(episode)), ensure_ascii=False)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def read_episodes(path: Path) -> tuple[Episode, ...]:
    """All episodes of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: a line of it is no episode; the message says which, and why.
    """
    try:
        lines = path.read_text("utf-8").split("\n")  # no other separator: text may hold those
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is no record of episodes: {error.reason}.") from None
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not numbered:
        raise ValueError(f"{path.name} holds no episode. `cuda-gym play --record` adds one.")
    return tuple(_episode(path, number, line) for number, line in numbered)


def _episode(path: Path, number: int, line: str) -> Episode:
    try:
        return _adapter().validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise ValueError(
            f"Line {number} of {path.name} is no episode: {place}: {first['msg']}. "
            "`cuda-gym play --record` writes such lines."
        ) from None


@cache
def _adapter() -> TypeAdapter[Episode]:
    return TypeAdapter(Episode)


def _without_paths(episode: Episode) -> Episode:
    verdict = None if episode.verdict is None else _without_folder(episode.verdict)
    return replace(episode, verdict=verdict, workspace=None)


def _without_folder(verdict: Verdict) -> Verdict:
    """The Verdict with the name of the library that was built, without where it lay."""
    build = verdict.findings.build
    if build is None:
        return verdict
    build = replace(build, library=PurePath(build.library).name)
    return replace(verdict, findings=replace(verdict.findings, build=build))
