from __future__ import annotations

import subprocess
import sys

LOOK = """
import sys
import torch
from cuda_gym.judge.verification.memory import peak_bytes
x = torch.ones(1000)
print(peak_bytes(lambda: x + 1, [x])[1], "torch._dynamo" in sys.modules)
"""


def test_what_is_run_under_a_watch_does_not_load_the_compiler_of_torch() -> None:
    ran = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["8000", "False"]
