"""Torch's code cannot be run once it is closed, what is allowed can, and it cannot be opened again."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

from cuda_gym.errors import Refused
from cuda_gym.judge.sandbox.code_from_outside import (
    CodeRange,
    ExecutableMapping,
    made_bytes,
    open_bytes,
    refuse_closed_code,
)

# What is closed stays closed, so every case runs in a child of one that has closed it.
PROGRAM = """
import json, mmap, os, signal
import numpy, torch
from torch.nn import functional as F
from cuda_gym.judge.sandbox import closed_code, limits
from cuda_gym.judge.sandbox.code_from_outside import executable_mappings, open_bytes

torch.set_num_threads(1)
x, table = torch.randn(64, 64), torch.library.get_kernel("aten::mm", "CPU").call_boxed
kept = torch.empty(64, 64)
weight, places = torch.randn(9, 8), torch.tensor([[1, 2]])
keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
found = closed_code.find_code()
before = open_bytes(executable_mappings(os.getpid()), found)
limits.drop_privileges()
is_filtered = limits.forbid_new_code()
bag = F.embedding_bag(places, weight, mode="sum").tolist() == weight[1:3].sum(0, keepdim=True).tolist()
closed_code.close_code()
after = open_bytes(executable_mappings(os.getpid()), found)

def open_again():
    for code in found:
        closed_code._libc.mprotect(code.start, code.num_bytes, mmap.PROT_READ | mmap.PROT_EXEC)
    return x.exp()

def attempt(expression):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            eval(expression)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

ended = {expression: attempt(expression) for expression in EXPRESSIONS}
print(json.dumps({"before": before, "after": after, "is_filtered": is_filtered, "bag": bag, "ended": ended}))
os._exit(0)
"""
CLOSED = (
    "x.exp()",
    "x + x",
    "x.sum()",
    "x.softmax(-1)",
    "x @ x",
    "table(keys, x, x)",
    "F.layer_norm(x, (64,))",
    "F.conv2d(x[None, None], x[None, None, :3, :3])",
    "torch.fft.rfft(x)",
    "F.embedding_bag(places, weight, mode='sum')",
    "numpy.matmul(x.numpy(), x.numpy())",
    "open_again()",
)
OPEN = (
    "torch.zeros(999, 999)",
    "torch.full_like(x, 2.0).fill_(1.0)",
    "torch.empty_like(x).view(-1)[::2].unsqueeze(0).expand(3, -1)",
    "kept.numpy().__setitem__(..., x.t().numpy())",
    "torch.set_num_threads(2)",
)
NEW_CODE = (
    "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "__import__('ctypes').CDLL('libanl.so.1')",
)


@cache
def seen() -> dict[str, object]:
    program = PROGRAM.replace("EXPRESSIONS", repr((*CLOSED, *OPEN, *NEW_CODE)))
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )
    assert run.returncode == 0, run.stderr
    told: dict[str, object] = json.loads(run.stdout)
    if not told["before"]:
        pytest.skip("this build of torch has nothing that could be found and closed")
    return told


def ended(expression: str) -> int:
    told = seen()["ended"]
    assert isinstance(told, dict)
    return int(told[expression])


def test_from_outside_it_is_seen_whether_the_code_is_closed() -> None:
    assert seen()["after"] == 0


@pytest.mark.parametrize("expression", CLOSED)
def test_what_computes_ends_the_process(expression: str) -> None:
    assert ended(expression) == -11


@pytest.mark.parametrize("expression", OPEN)
def test_what_allocates_views_and_fills_works(expression: str) -> None:
    assert ended(expression) == 0


@pytest.mark.parametrize("expression", NEW_CODE)
def test_no_code_comes_in_later(expression: str) -> None:
    assert seen()["is_filtered"]
    assert ended(expression) == 1


def test_a_sum_of_embeddings_needs_no_code_that_is_compiled_for_it() -> None:
    assert seen()["bag"]


CODE = CodeRange(start=0x10000, num_bytes=0x2000, inode=7, offset=0x4000)


@pytest.mark.parametrize(
    ("mapping", "num_bytes"),
    [
        (ExecutableMapping(0x10000, 0x20000, 0x4000, 7, "/torch"), 0x2000),
        (ExecutableMapping(0x90000, 0x91000, 0x5000, 7, "/torch"), 0x1000),
        (ExecutableMapping(0x12000, 0x20000, 0x6000, 7, "/torch"), 0),
        (ExecutableMapping(0x90000, 0x91000, 0x5000, 8, "/other"), 0),
        (ExecutableMapping(0x11000, 0x20000, 0, 0, ""), 0x1000),
        (ExecutableMapping(0x10000, 0x11000, 0x5000, 8, "/other"), 0x1000),
    ],
    ids=["in its place", "moved", "beside it", "another file", "copied", "covered"],
)
def test_closed_code_is_found_wherever_its_file_can_be_run(
    mapping: ExecutableMapping, num_bytes: int
) -> None:
    assert open_bytes([mapping], [CODE]) == num_bytes


def test_memory_of_no_file_that_can_be_run_since_then_was_made_by_the_submission() -> None:
    found = [
        ExecutableMapping(0x1000, 0x2000, 0, 0, ""),
        ExecutableMapping(0x3000, 0x5000, 0, 0, ""),
        ExecutableMapping(0x6000, 0x6100, 0, 9, "/dev/zero (deleted)"),
        ExecutableMapping(0x7000, 0x8000, 0, 0, "[vdso]"),
        ExecutableMapping(0x8000, 0x9000, 0, 3, "/kernels/kernels.so (deleted)"),
    ]
    assert made_bytes(found, frozenset({(0x1000, 0x4000)})) == 0x2100
    assert made_bytes(found, frozenset({(0x1000, 0x5000), (0x6000, 0x6100)})) == 0


def test_a_fault_in_closed_code_is_a_refusal_and_no_other_is() -> None:
    refuse_closed_code("illegal address 0x12000 outside any kernel", [CODE])
    refuse_closed_code("illegal address 0x11000 in kernel f, block (0,0,0)", [CODE])
    with pytest.raises(Refused, match="0x11000"):
        refuse_closed_code("illegal address 0x11000 outside any kernel", [CODE])
