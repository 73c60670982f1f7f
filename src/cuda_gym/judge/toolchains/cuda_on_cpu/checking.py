"""What the checking build has found, in words: which lines, which threads, which memory.

Covered: what is no line of JSON, or not of the form that the runtime writes, is left out; so are two
copies of one barrier. Not covered: whether a finding is true; the library of a submission shares its
process with the one that finds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cuda_gym.core.findings import MemoryFinding, MemorySide
from cuda_gym.judge.toolchains.cuda_on_cpu.source_lines import SourceLine, SourceLines

__all__ = ["KINDS", "read_findings"]

_MOST = 40
_LONGEST = 8000
KINDS = (
    "data race",
    "out of bounds",
    "uninitialised read",
    "divergent barrier",
    "mismatched mask",
    "deadlock",
    "misaligned access",
    "host access",
    "unwritten output",
)
"""What can be wrong, as the runtime library and every finding call it."""
_OURS = str(Path(__file__).parent / "include")


def read_findings(
    text: str, library: Path, *, is_own: Callable[[str], bool]
) -> tuple[MemoryFinding, ...]:
    """The findings that the runtime wrote, with lines of the sources.

    Args:
        text: One line of JSON each.
        library: What was run, with its debug information.
        is_own: Whether a file is one that its author can change: places are told as lines of these.
    """
    lines = SourceLines(library)
    found: dict[tuple[object, ...], MemoryFinding] = {}
    for line in text.splitlines()[:_MOST]:
        try:
            plain = json.loads(line[:_LONGEST])
            places = [lines.chain(int(party["place"])) for party in plain["parties"]]
            finding = _finding(plain, [_place(chain, is_own) for chain in places])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if finding.kind == "divergent barrier" and not _diverges(finding, places, is_own):
            continue
        key = (finding.kind, *sorted({(s.file or "", s.line or 0) for s in finding.sides}))
        found.setdefault(key, finding)
    return tuple(found.values())


def _finding(plain: Mapping[str, Any], places: list[SourceLine | None]) -> MemoryFinding:
    if plain["kind"] not in KINDS:
        raise ValueError(plain["kind"])
    return MemoryFinding(
        kind=plain["kind"],
        text=str(plain["text"])[:400],
        kernel=str(plain["kernel"])[:200],
        sides=tuple(_sides(plain["parties"], places)),
    )


def _diverges(
    finding: MemoryFinding, places: list[tuple[SourceLine, ...]], is_own: Callable[[str], bool]
) -> bool:
    """Whether threads met at two barriers of the source, and not at two copies of one."""
    if "meet at different" not in finding.text:
        return True
    own = {tuple(line for line in chain if line.line and is_own(line.file)) for chain in places}
    return () not in own and len(own) > 1


def _sides(
    parties: list[Mapping[str, Any]], places: list[SourceLine | None]
) -> Iterator[MemorySide]:
    for party, place in zip(parties, places, strict=True):
        yield MemorySide(
            does=str(party["does"])[:40],
            file=place and place.file,
            line=place and place.line,
            thread=_index(party.get("thread")),
            block=_index(party.get("block")),
        )


def _index(plain: Any) -> tuple[int, int, int] | None:
    if plain is None:
        return None
    x, y, z = map(int, plain)
    return x, y, z


def _place(chain: tuple[SourceLine, ...], is_own: Callable[[str], bool]) -> SourceLine | None:
    """The innermost line that the author can change, or else one that is not ours."""
    chain = tuple(line for line in chain if line.line)
    own = (line for line in chain if is_own(line.file))
    others = (line for line in chain if not line.file.startswith(_OURS))
    return next(own, None) or next(others, None)
