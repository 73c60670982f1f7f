"""What `read_skill` serves: the pages under `skills/`, parsed strictly, listed in an order to read them in.

    ---
    name: launchers
    description: one line that tells an agent when to read it
    devices: [cpu, cuda]
    ---
    the page

A page that breaks the form is not served, and the list says so and why: half a page teaches worse
than none, and one broken page must not take the others away.

Covered: form, size, encoding. Not covered: whether what a page teaches is true; `tests/skills` runs it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from cuda_gym.errors import BadAction

__all__ = [
    "MAX_CHARS",
    "READING_ORDER",
    "BrokenSkill",
    "Skill",
    "SkillShelf",
    "describe_shelf",
    "describe_skill",
    "parse_skill",
    "read_shelf",
    "skills",
]

MAX_CHARS = 6000
"""Two pages: what a model can read in the middle of a task without losing it."""

READING_ORDER = (
    "episode",
    "launchers",
    "kernels",
    "worked_example",
    "cpu_device",
    "compiler_output",
    "verify_output",
    "profile_output",
    "memory_access",
    "fusion",
    "reductions",
    "warps",
    "shared_memory",
    "numerics",
    "matmul",
    "attention",
)
"""First how to play, then how to be fast. A skill that is not named here comes after them."""

_DEVICE_KINDS = ("cpu", "cuda")
_KEYS = ("name", "description", "devices")
_NEAREST = 3


@dataclass(frozen=True, kw_only=True)
class Skill:
    """One page of advice."""

    name: str
    """Its folder."""
    description: str
    """One line: when to read it."""
    devices: tuple[str, ...]
    """The kinds of device on which it holds: `cpu`, `cuda`."""
    text: str
    """The page in Markdown, without front matter."""


@dataclass(frozen=True, kw_only=True)
class BrokenSkill:
    """A folder whose page cannot be served."""

    name: str
    why: str


@dataclass(frozen=True, kw_only=True)
class SkillShelf:
    """All skills of a folder."""

    skills: Mapping[str, Skill]
    """By name, in the order in which to read them."""
    broken: tuple[BrokenSkill, ...] = ()


@cache
def skills() -> SkillShelf:
    """The skills that come with the package."""
    return read_shelf(resources.files("cuda_gym") / "skills")


def read_shelf(folder: Traversable) -> SkillShelf:
    """The skills of a folder, one a sub-folder with a `SKILL.md`."""
    found: list[Skill] = []
    broken: list[BrokenSkill] = []
    for entry in sorted(folder.iterdir(), key=_place):
        if not entry.is_dir() or entry.name.startswith(("_", ".")):
            continue
        try:
            found.append(parse_skill(entry.name, (entry / "SKILL.md").read_bytes()))
        except FileNotFoundError:
            broken.append(BrokenSkill(name=entry.name, why="it has no SKILL.md."))
        except (OSError, ValueError) as error:
            broken.append(BrokenSkill(name=entry.name, why=str(error)))
    return SkillShelf(skills={skill.name: skill for skill in found}, broken=tuple(broken))


def parse_skill(name: str, content: bytes) -> Skill:
    """A skill from the bytes of its `SKILL.md`.

    Raises:
        ValueError: it breaks the form; the message says what to change.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is not UTF-8; save the file as UTF-8.") from None
    if len(text) >= MAX_CHARS:
        raise ValueError(f"{len(text):,} characters are too many; stay below {MAX_CHARS:,}.")
    match = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    if match is None:
        raise ValueError(f"it has no front matter; begin with ---, {', '.join(_KEYS)}, ---.")
    fields = _fields(match[1])
    if fields["name"] != name:
        raise ValueError(f"its name is {fields['name']!r}, its folder {name!r}; make them one.")
    body = text[match.end() :].strip()
    if not fields["description"] or not body:
        raise ValueError("its description or its page is empty; write both.")
    return Skill(
        name=name,
        description=fields["description"],
        devices=_devices(fields["devices"]),
        text=body,
    )


def describe_shelf(shelf: SkillShelf, device_kind: str) -> str:
    """The list of all skills: first those for the device, then the others, then what is broken."""
    here = [skill for skill in shelf.skills.values() if device_kind in skill.devices]
    elsewhere = [skill for skill in shelf.skills.values() if device_kind not in skill.devices]
    lines = ['read_skill with {"name": NAME} reads one of these.']
    lines += [f"{skill.name}: {skill.description}" for skill in here]
    lines += [
        f"{skill.name} (only on {', '.join(skill.devices)}): {skill.description}"
        for skill in elsewhere
    ]
    lines += [f"broken: {skill.name}: {skill.why}" for skill in shelf.broken]
    return "\n".join(lines)


def describe_skill(shelf: SkillShelf, name: str, device_kind: str) -> str:
    """One page.

    Raises:
        BadAction: there is none of that name; the message names the three nearest.
    """
    wanted = re.sub(r"[\s-]+", "_", name.strip().lower())
    skill = shelf.skills.get(wanted)
    if skill is None:
        raise BadAction(_unknown(shelf, name, wanted))
    if device_kind in skill.devices:
        return skill.text
    return f"This holds on {', '.join(skill.devices)} only; here is {device_kind}.\n\n{skill.text}"


def _place(entry: Traversable) -> tuple[int, str]:
    known = entry.name in READING_ORDER
    return (READING_ORDER.index(entry.name) if known else len(READING_ORDER), entry.name)


def _fields(front_matter: str) -> dict[str, str]:
    """The three values; each key stands once, and no other."""
    fields: dict[str, str] = {}
    for line in front_matter.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key not in _KEYS or key in fields:
            raise ValueError(
                f"its front matter has the line {line[:60]!r}; it takes {', '.join(_KEYS)}, once each."
            )
        fields[key] = value.strip()
    missing = [key for key in _KEYS if key not in fields]
    if missing:
        raise ValueError(f"its front matter lacks {', '.join(missing)}; add it.")
    return fields


def _devices(value: str) -> tuple[str, ...]:
    names = [name.strip() for name in value.removeprefix("[").removesuffix("]").split(",")]
    is_list = value.startswith("[") and value.endswith("]")
    if not is_list or len(set(names)) < len(names) or not set(names) <= set(_DEVICE_KINDS):
        raise ValueError(
            f"its devices are {value[:60]!r}; write a list of {' and '.join(_DEVICE_KINDS)}, "
            "as [cpu, cuda]."
        )
    return tuple(names)


def _unknown(shelf: SkillShelf, name: str, wanted: str) -> str:
    near = sorted(shelf.skills.values(), key=lambda skill: _nearness(skill, wanted), reverse=True)
    why = next((f" It is broken: {b.why}" for b in shelf.broken if b.name == wanted), "")
    return (
        f"There is no skill {name[:60]!r}.{why} The nearest are "
        f"{', '.join(skill.name for skill in near[:_NEAREST])}; read_skill without a name lists all."
    )


def _nearness(skill: Skill, wanted: str) -> float:
    """How likely a skill is meant: by its name, the words that describe it, and what it is about."""
    alike = _ratio(wanted, skill.name)
    described = max(_ratio(wanted, w) for w in re.findall(r"[a-z]{4,}", skill.description.lower()))
    mentions = skill.text.lower().count(wanted.replace("_", " ")) if len(wanted) > 2 else 0
    said = 0.6 + min(mentions, 20) / 100 if mentions else 0.0
    return max(alike, 0.9 * described, said)


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a[:60], b).ratio()
