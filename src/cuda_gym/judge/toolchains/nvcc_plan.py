"""What nvcc would do, done side by side: its own commands, from what it tells before it starts.

For each file nvcc runs two chains of programs one after the other, although neither needs the other:

    device    gcc -E, cicc, ptxas, fatbinary
    host      gcc -E, cudafe++, and then, with what the device's chain has made, gcc -c

Here they run at the same time, as do files, in one shell: a build takes as long as its longest chain.
On a machine with free cores that is two thirds of the time.

Covered: a plan that is not of this form is none, and nvcc itself has to do the work. Not covered:
separate compilation of device code (`-rdc`), several architectures.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Plan", "read_plan"]

_ASSIGNMENT = re.compile(r"^(PATH|LD_LIBRARY_PATH|CICC_PATH|NVVMIR_LIBRARY_DIR|TOP)=(.*)$")
_ANY_ASSIGNMENT = re.compile(r"^\w+=")
_MAKES_ID = re.compile(r"\s--gen_module_id_file\b")
_ID_FILE = re.compile(r'--module_id_file_name "([^"]+)"')
_INCLUDE = re.compile(r'(?<=\s)-include "cuda_runtime\.h"')
_PROGRAM = re.compile(r'^(?:"[^"]*?([^/"]+)"|(?:\S*/)?(\S+))')
_DEVICE = ("cicc", "ptxas", "fatbinary")
_UNIT = ["preprocess", "preprocess", "cudafe++", *_DEVICE, "compile"]


@dataclass
class _Unit:
    """The commands for one file."""

    host: list[str] = field(default_factory=list)
    device: list[str] = field(default_factory=list)
    compile: str = ""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a library comes to be, as nvcc tells it."""

    environment: Mapping[str, str]
    units: Sequence[_Unit]
    link: str
    ids: Mapping[str, str]
    """Files by which the two chains of a unit agree on names, with what they hold."""

    def script(self, *, prelude: Path | None = None, linker: str = "") -> str:
        """The plan as a text for the shell; it prints what all its programs say.

        Args:
            prelude: A header that is read in front of everything.
            linker: Which one links, as `-fuse-ld=` calls it; empty is the usual one.
        """
        link = f"{self.link} -fuse-ld={shlex.quote(linker)}" if linker else self.link
        include = "" if prelude is None else f"-include {shlex.quote(str(prelude))} "
        lines = [f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()]
        lines += [
            f"printf %s {shlex.quote(text)} > {shlex.quote(path)}"
            for path, text in self.ids.items()
        ]
        said = []
        for number, unit in enumerate(self.units):
            host, device, own = (f"{number}.{name}.txt" for name in ("host", "device", "compile"))
            said += [host, device, own]
            lines += [
                f"unit_{number}() {{",
                f"{{ {_chain(unit.host, include)}; }} > {host} 2>&1 & host=$!",
                f"{{ {_chain(unit.device, include)}; }} > {device} 2>&1; device=$?",
                # Errors of both would be the same ones in two forms.
                f"wait $host || {{ rm -f {device}; return 1; }}",
                f"[ $device = 0 ] && {{ {unit.compile}; }} > {own} 2>&1",
                "}",
            ]
        lines += [f"unit_{number} & pid_{number}=$!" for number in range(len(self.units))]
        lines += ["status=0", *(f"wait $pid_{n} || status=1" for n in range(len(self.units)))]
        lines += [
            f"[ $status = 0 ] && {{ {{ {link}; }} > link.txt 2>&1 || status=1; }}",
            f"cat {' '.join(said)} link.txt 2> /dev/null",
            "exit $status",
        ]
        return "\n".join(lines)


def read_plan(said: str, seed: str) -> Plan | None:
    """The plan in the words of `nvcc --dryrun`; None where it is of another form.

    Args:
        said: What nvcc printed.
        seed: Letters and digits that no other library has.
    """
    lines = [
        line.removeprefix("#$ ").strip() for line in said.splitlines() if line.startswith("#$ ")
    ]
    environment = {found[1]: found[2] for line in lines if (found := _ASSIGNMENT.match(line))}
    commands = [line for line in lines if not _ANY_ASSIGNMENT.match(line)]
    commands = [line for line in commands if _program(line) != "rm"]
    size = len(_UNIT)
    if len(commands) <= size or len(commands) % size != 1:
        return None
    ids: dict[str, str] = {}
    units = []
    for start in range(0, len(commands) - 1, size):
        unit = _read_unit(commands[start : start + size], ids, f"_{seed}_{start // size}_cuda_gym")
        if unit is None:
            return None
        units.append(unit)
    if _kind(commands[-1]) != "link":
        return None
    return Plan(environment=environment, units=units, link=commands[-1], ids=ids)


def _chain(commands: Sequence[str], include: str) -> str:
    """Commands one after the other, with something in front of the header that nvcc includes."""
    return " && ".join(_INCLUDE.sub(lambda found: include + found[0], line) for line in commands)


def _read_unit(commands: Sequence[str], ids: dict[str, str], own_id: str) -> _Unit | None:
    kinds = [_kind(command) for command in commands]
    if sorted(kinds) != sorted(_UNIT) or kinds[-1] != "compile":
        return None
    commands = list(commands)
    for number, command in enumerate(commands):
        if found := _ID_FILE.search(command):
            ids[found[1]] = own_id
            # Else the device's chain would wait for the one that makes it up.
            commands[number] = _MAKES_ID.sub("", command)
    unit = _Unit(compile=commands[-1])
    front_end = commands[kinds.index("cudafe++")]
    for kind, command in zip(kinds[:-1], commands[:-1], strict=True):
        made = shlex.split(command)[-1]
        is_host = kind == "cudafe++" or (kind == "preprocess" and made in front_end)
        (unit.host if is_host else unit.device).append(command)
    return unit if len(unit.host) == 2 else None


def _kind(command: str) -> str:
    program = _program(command)
    if program in ("cudafe++", *_DEVICE):
        return program
    words = shlex.split(command)
    if "-E" in words:
        return "preprocess"
    if "-c" in words:
        return "compile"
    return "link" if "-shared" in words else program


def _program(command: str) -> str:
    found = _PROGRAM.match(command)
    return (found[1] or found[2]) if found else ""
