"""One report of compute-sanitizer as a finding, in the words of the memory check of `cpu`.

Covered: invalid and uninitialised accesses, hazards and their analysis, barriers. Not covered: leaks,
errors of API calls, exceptions of the hardware: they name no line of a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cuda_gym.core.findings import MemoryFinding, MemorySide

__all__ = ["Record", "finding_of", "records"]

Record = tuple[str, ...]
"""The lines of a report without prefix and indentation."""


_DETAIL = re.compile(
    r"at |by thread |Address |Access |and |Device Frame|Host Frame|Saved |in |(?:Read|Write) Thread |"
    r"Current Value"
)


def records(text: str) -> Iterator[Record]:
    """The reports of a log. One begins at a line that is no detail, or behind an empty one."""
    record: list[str] = []
    for line in text.splitlines():
        if not line.startswith("====="):
            continue  # what the program printed, where it went to the same file
        said = line.lstrip("=").strip()
        if record and not (said and _DETAIL.match(said)):
            yield tuple(record)
            record = []
        if said:
            record.append(said)
    if record:
        yield tuple(record)


def finding_of(record: Record) -> MemoryFinding | None:
    """The finding; None where the report is about something else."""
    for pattern, read in _READERS:
        if head := pattern.match(record[0]):
            return read(head, record)
    return None


@dataclass(frozen=True, kw_only=True)
class _Place:
    function: str
    file: str | None
    line: int | None


_INDEX3 = r"\((\d+), ?(\d+), ?(\d+)\)"
_ACCESS = re.compile(r"(?:Potential i|I)nvalid __(\w+)__ (\w+) of size (\d+) bytes?")
_UNINITIALISED = re.compile(r"Uninitialized __(\w+)__ memory (\w+) of size (\d+) bytes?")
_HAZARD = re.compile(
    r"(?:Error|Warning|ERROR|WARNING): (?P<warp>\(Warp Level Programming\) )?Potential "
    rf"(?P<kind>RAW|WAR|WAW) hazard detected at __shared__ (?P<at>0x\w+) in block {_INDEX3}"
)
_RACE = re.compile(
    r"(?:Error|Warning|ERROR|WARNING): Race reported between (Read|Write) access (?P<at>at .*)"
)
_BARRIER = re.compile(r"(?:Barrier|Warpgroup MMA sequence) error detected\. ?(.*?)\.?$")
_DEADLOCK = re.compile(r"Deadlock detected in .* at (?P<at>.*)")

_THREAD = re.compile(rf"by thread {_INDEX3} in block {_INDEX3}")
_PARTY = re.compile(rf"(Read|Write) Thread {_INDEX3} (?P<at>at .*)")
_OTHER = re.compile(r"and (Read|Write) access (?P<at>at .*?)(?: \[\d+ hazards?\])?$")
_ADDRESS = re.compile(r"(?:Address|Access to|Access at) (0x[0-9a-f]+)(?: is (?P<how>.*))?")
_ALLOCATION = re.compile(
    r"and is (?:(?P<away>[\d,]+) bytes? (?P<side>before|after)|inside) the nearest allocation at "
    r"0x[0-9a-f]+ of size (?P<size>[\d,.]+) bytes?"
)
_PLACE = re.compile(
    r"(?:at |Device Frame: ?)(?P<function>.+?)(?:\+|:)0x[0-9a-f]+"
    r"(?: in (?P<file>.+?):(?P<line>\d+))?(?: |$)"
)
_OLD_PLACE = re.compile(r"at 0x[0-9a-f]+ in (?P<file>.+?):(?P<line>\d+):(?P<function>.+)")
_NULL_PAGE = 1 << 16
_FAR = 1 << 32
"""From here on the nearest allocation says nothing."""
_DOES = {"read": "reads", "write": "writes", "atomic": "updates atomically"}
_DID = {"Read": "read it", "Write": "wrote it"}


def _invalid_access(head: re.Match[str], record: Record) -> MemoryFinding | None:
    space, access, size = head.groups()
    address = _first(_ADDRESS, record)
    how = "" if address is None else address["how"] or ""
    kind = "misaligned access" if "misaligned" in how else "out of bounds"
    where = f"{space} memory"
    if address is not None and space == "global" and int(address[1], 16) < _NULL_PAGE:
        where = f"address {address[1]}, a null pointer"
    elif (near := _first(_ALLOCATION, record)) is not None and _distance(near) < _FAR:
        where = _near(near, space)
    elif kind == "misaligned access":
        where = f"an address that is no multiple of what is read ({space} memory)"
    elif space == "shared":
        where = f"{_hex(address)} (shared memory), more than the block has"
    elif address is not None:
        where = f"{address[1]} ({space} memory), which is no tensor's"
    return _finding(kind, f"{size} bytes at {where}", record, _DOES.get(access, "accesses"))


def _distance(near: re.Match[str]) -> int:
    return int((near["away"] or "0").replace(",", ""))


def _near(near: re.Match[str], space: str) -> str:
    size = near["size"]
    if near["away"] is None:
        return f"an address inside an allocation of {size} bytes ({space} memory)"
    if near["side"] == "before":
        return f"{near['away']} bytes before an allocation of {size} bytes ({space} memory)"
    # The tool counts from the last byte.
    away = int(near["away"].replace(",", "")) - 1
    return (
        f"{max(0, away):,} bytes behind the end of an allocation of {size} bytes ({space} memory)"
    )


def _uninitialised(head: re.Match[str], record: Record) -> MemoryFinding | None:
    space, _, size = head.groups()
    text = f"{size} bytes of {space} memory that nothing has written"
    return _finding("uninitialised read", text, record, "reads")


def _barrier(head: re.Match[str], record: Record) -> MemoryFinding | None:
    said = head[1][:1].lower() + head[1][1:]
    kind = "mismatched mask" if "invalid arguments" in said else "divergent barrier"
    return _finding(kind, said or "not all threads reach it", record, "waits")


def _deadlock(head: re.Match[str], record: Record) -> MemoryFinding | None:
    at = (f"at {head['at']}", *record[1:])
    return _finding(
        "deadlock", "threads wait at a barrier that the others do not reach", at, "waits"
    )


def _hazard(head: re.Match[str], record: Record) -> MemoryFinding | None:
    block = _index(head.groups()[-3:])
    parties = [found for line in record if (found := _PARTY.match(line))]
    if len(parties) != 2:
        return None
    first, second = parties
    is_warp = head["warp"] is not None or _warp(first) == _warp(second)
    barrier = "no __syncwarp is between" if is_warp else "no __syncthreads() is between"
    places = [_place(party["at"]) for party in parties]
    words = (_DID[first[1]], _DOES[second[1].lower()])
    sides = tuple(
        _side(place, does, _index(party.groups()[1:4]), block)
        for place, does, party in zip(places, words, parties, strict=True)
    )
    return MemoryFinding(
        kind="data race",
        text=f"byte {_number(head['at'])} of the block's shared memory; {barrier}",
        kernel=_kernel(places),
        sides=sides[::-1],
    )


def _race(head: re.Match[str], record: Record) -> MemoryFinding | None:
    accesses = [(head[1], head["at"])]
    accesses += [(found[1], found["at"]) for line in record if (found := _OTHER.match(line))]
    (one, at), (other, there) = (accesses * 2)[:2]
    places = [_place(at), _place(there)]
    return MemoryFinding(
        kind="data race",
        text="shared memory; no __syncthreads() is between",
        kernel=_kernel(places),
        sides=(
            _side(places[0], _DOES[one.lower()], None, None),
            _side(places[1], _DID[other], None, None),
        ),
    )


_READERS: tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str], Record], MemoryFinding | None]], ...
] = (
    (_ACCESS, _invalid_access),
    (_UNINITIALISED, _uninitialised),
    (_HAZARD, _hazard),
    (_RACE, _race),
    (_BARRIER, _barrier),
    (_DEADLOCK, _deadlock),
)


def _finding(kind: str, text: str, record: Record, does: str) -> MemoryFinding:
    """With one side: the thread and the innermost line of the agent's own."""
    places = [place for line in record if (place := _place(line)) is not None]
    own = next((place for place in places if _is_own(place.file)), None)
    thread = _first(_THREAD, record)
    who = None if thread is None else _index(thread.groups()[:3])
    block = None if thread is None else _index(thread.groups()[3:])
    return MemoryFinding(
        kind=kind,
        text=text,
        kernel=_kernel(places),
        sides=(_side(own or next(iter(places), None), does, who, block),),
    )


def _place(line: str) -> _Place | None:
    found = _OLD_PLACE.match(line) or _PLACE.match(line)
    if found is None:
        return None
    number = found["line"]
    return _Place(
        function=found["function"],
        file=None if found["file"] is None else _workspace_path(found["file"]),
        line=None if number is None else int(number),
    )


def _workspace_path(path: str) -> str:
    """`kernels/a.cu` of whatever folder it was compiled in; other files by their last name."""
    _, has_folder, inside = path.rpartition("/kernels/")
    if has_folder or path.startswith("kernels/"):
        return f"kernels/{inside.removeprefix('kernels/')}"
    return path.rpartition("/")[2]


def _is_own(file: str | None) -> bool:
    return file is not None and file.startswith("kernels/")


def _kernel(places: list[_Place | None] | list[_Place]) -> str:
    """The outermost frame, as the source calls it: without what it returns and takes."""
    functions = [place.function for place in places if place is not None]
    if not functions:
        return ""
    name = functions[-1].rpartition("] ")[2].removeprefix("void ")
    return name.partition("(")[0].strip()[:200]


def _side(
    place: _Place | None,
    does: str,
    thread: tuple[int, int, int] | None,
    block: tuple[int, int, int] | None,
) -> MemorySide:
    return MemorySide(
        does=does,
        file=None if place is None else place.file,
        line=None if place is None else place.line,
        thread=thread,
        block=block,
        in_kernel=thread is None,
    )


def _first(pattern: re.Pattern[str], record: Record) -> re.Match[str] | None:
    return next((found for line in record if (found := pattern.match(line))), None)


def _index(groups: tuple[str | None, ...]) -> tuple[int, int, int]:
    x, y, z = (int(group or 0) for group in groups)
    return x, y, z


def _warp(party: re.Match[str]) -> tuple[int, int, int]:
    x, y, z = _index(party.groups()[1:4])
    return x // 32, y, z


def _hex(address: re.Match[str] | None) -> str:
    return "an address" if address is None else address[1]


def _number(text: str) -> str:
    return f"{int(text, 16):,}"
