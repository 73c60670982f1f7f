"""Where the benchmarks of the `cuda` device write: one file a GPU, an entry a benchmark.

An entry is written again and again while a benchmark runs, so that little is lost where it is stopped.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuda_gym.core.verdict import Fingerprint

__all__ = ["RESULTS", "describe", "machine_line", "record", "say"]

RESULTS = Path(__file__).parents[1] / "results"


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)


def describe(fingerprint: Fingerprint) -> dict[str, str]:
    """The machine, its software and the day."""
    return {
        "device": fingerprint.device,
        "date": str(datetime.datetime.now(tz=datetime.UTC).date()),
        "toolchain": fingerprint.toolchain,
        "torch": fingerprint.torch,
        "timer": fingerprint.timer,
        "transport": fingerprint.transport,
        "isolation": fingerprint.isolation,
        "judge": fingerprint.judge,
    }


def machine_line(machine: Mapping[str, str]) -> str:
    """The same as one sentence."""
    return (
        f"{machine['date']}, {machine['device']}, {machine['toolchain']}, torch {machine['torch']}; "
        f"timer {machine['timer']}, transport {machine['transport']}, "
        f"isolation {machine['isolation']}."
    )


def record(
    fingerprint: Fingerprint, entry: str, figures: Mapping[str, Any], folder: Path
) -> dict[str, str]:
    """Put an entry into the file of a device, and leave the others; the answer is the machine."""
    machine = describe(fingerprint)
    name = re.sub(r"\W+", "_", machine["device"].partition(",")[0].lower()).strip("_")
    path = folder / f"{name}.json"
    entries = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    entries[entry] = {"machine": machine, **figures}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    return machine
