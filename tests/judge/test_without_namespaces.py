"""In a container that forbids namespaces a submission is judged all the same, and its Verdict says what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, SCALE_TASK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of unshare is another"),
]

NO_UNSHARE = """\
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 272), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # no_new_privs
assert libc.prctl(22, 2, filter, 0, 0) == 0  # from now on unshare fails with EPERM
os.execv(sys.executable, [sys.executable, "-m", "cuda_gym", *sys.argv[1:]])
"""


def told(*words: str) -> dict[str, Any]:
    """What `cuda-gym` says as JSON where nobody may have a namespace."""
    command = [sys.executable, "-c", NO_UNSHARE, *words, "--device", "cpu", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=110, check=False)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_verdict_is_made_and_is_not_ranked(tmp_path: Path) -> None:
    task, folder = tmp_path / "scale.py", tmp_path / "mine"
    task.write_text(SCALE_TASK)
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "k.cu").write_text(SCALE_KERNEL)
    (folder / "model_new.py").write_text(SCALE_MODEL)
    verdict = told("judge", str(task), str(folder))
    assert verdict["outcome"] == "correct", verdict["findings"]["summary"]
    assert verdict["timing"] is not None
    assert {"user", "pid", "network", "mount"}.isdisjoint(
        verdict["fingerprint"]["isolation"].split("+")
    )
    assert "isolation lacks mount, network, pid, user" in verdict["unranked"]


def test_doctor_has_the_remedy_and_lets_play() -> None:
    answer = told("doctor")
    rows = {row["what"]: row for row in answer["checks"]}
    assert answer["can_play"]
    for name in ("user", "pid", "network", "ipc", "mount"):
        row = rows[f"namespace {name}"]
        assert row["state"] == "degraded"
        assert "--security-opt" in row["remedy"]
