from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cuda_gym.judge.sandbox.processes import end, spawn

BURN = """
import os, sys, time, torch
torch.set_num_threads(2)
x, burnt = torch.ones(256, 256), []
for _ in range(20):
    x @ x
    before = time.process_time()
    time.sleep(0.01)
    burnt.append(time.process_time() - before)
os.write(int(sys.argv[1]), str(sorted(burnt)[10]).encode())
"""
"""Tells the processor time of a process in the 10 ms after a matrix product on two threads."""


def test_after_a_library_call_the_cores_of_a_candidate_are_free_for_its_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "burning_zygote.py").write_text(BURN)
    monkeypatch.syspath_prepend(tmp_path)
    ours, theirs = socket.socketpair()
    process = spawn("burning_zygote", theirs)
    with ours:
        assert float(ours.recv(64)) < 1e-3
    end(process)
