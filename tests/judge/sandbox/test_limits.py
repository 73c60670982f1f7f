"""What a candidate writes to its private folder is data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import mmap, sys
from pathlib import Path
from cuda_gym.judge.sandbox import limits
folder = Path(sys.argv[1])
limits.enter_namespaces(own_pids=False)
if "mount" not in limits.enclose(folder, fresh_proc=False):
    sys.exit("no mount namespace")
with (folder / "code").open("w+b") as file:
    file.write(bytes(4096))
    file.flush()
    mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)
    try:
        mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    except PermissionError:
        print("refused")
"""


def test_no_code_is_run_from_the_private_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    if "no mount namespace" in ran.stderr:
        pytest.skip("this machine gives no mount namespace")
    assert ran.stdout == "refused\n", ran.stderr
