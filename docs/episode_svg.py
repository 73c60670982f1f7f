"""Makes `episode.svg`, the picture of the README: the end of `cuda-gym demo`, as a terminal shows it.

python docs/episode_svg.py
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 104
FIRST = "> compile()"
LAST = "eager"


def played() -> str:
    """What the demo prints on a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-m", "cuda_gym", "demo"],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # a terminal whose other end is closed
            break
        if not part:
            break
        parts.append(part)
    if process.wait() != 0:
        raise SystemExit("The demo failed; run `cuda-gym demo` to see why.")
    return b"".join(parts).decode().replace("\r\n", "\n")


def excerpt(text: str) -> Text:
    """From the first compile to the times of the Verdict, without the turn that compiles again."""
    lines = Text.from_ansi(text).split("\n")
    plain = [line.plain.strip() for line in lines]
    first = plain.index(FIRST)
    last = max(n for n, line in enumerate(plain) if line.startswith(LAST))
    again = next(n for n, line in enumerate(plain) if n > first and re.match("Turn 4 ", line))
    verify = next(n for n, line in enumerate(plain) if n > again and re.match("Turn 5 ", line))
    return Text("\n").join([*lines[first:again], *lines[verify : last + 1]])


def main() -> None:
    """Play, cut, and write the picture."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere)
        console.print(excerpt(played()))
    target = Path(__file__).parent / "episode.svg"
    console.save_svg(str(target), title="cuda-gym demo")
    sys.stdout.write(f"Wrote {target.name}.\n")


if __name__ == "__main__":
    main()
