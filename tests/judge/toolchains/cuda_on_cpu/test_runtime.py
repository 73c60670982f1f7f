from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu import runtime_build

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def blocks(program: Programs) -> Any:
    return program("blocks.cu")


@pytest.fixture(scope="module")
def host_api(program: Programs) -> Any:
    return program("host_api.cu")


@pytest.fixture(scope="module")
def faults(program: Programs) -> Any:
    return program("faults.cu")


# Launches


def test_launches_are_counted(blocks: Any) -> None:
    before = blocks.runtime.num_launches()
    x = np.zeros(64, np.float32)
    blocks("transpose", x, x.copy(), 8, 8)
    blocks("votes", np.zeros(8, np.int32), np.zeros(8, np.int32), 8)
    assert blocks.runtime.num_launches() == before + 2


def test_kernels_are_timed_by_name_while_somebody_asks(blocks: Any) -> None:
    x, sums = np.ones((40, 64), np.float32), np.zeros(40, np.float32)
    blocks.runtime.time_kernels(True)
    for _ in range(3):
        blocks("row_sums", x, sums, 40, 64)
    blocks("transpose", x, x.copy(), 40, 64)
    rows, transpose = blocks.runtime.launched_kernels()
    blocks.runtime.time_kernels(False)
    blocks("transpose", x, x.copy(), 40, 64)
    assert (rows.name, rows.launches) == ("dynamic_at_namespace_scope", 3)
    assert (rows.grid, rows.block) == ((40, 1, 1), (64, 1, 1))
    assert (transpose.launches, transpose.grid) == (1, (4, 3, 1))
    assert 0 < transpose.total_ns < 1e9
    assert blocks.runtime.launched_kernels() == ()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_number_of_threads_does_not_change_the_numbers(blocks: Any, count: int) -> None:
    x = np.arange(1000, dtype=np.float32).reshape(20, 50)
    y = np.zeros((50, 20), np.float32)
    blocks.runtime.set_num_threads(count)
    try:
        blocks("transpose", x, y, 20, 50)
    finally:
        blocks.runtime.set_num_threads(2)
    np.testing.assert_array_equal(y, x.T)


def test_a_number_of_threads_is_positive(blocks: Any) -> None:
    with pytest.raises(ValueError, match="at least 1; got 0"):
        blocks.runtime.set_num_threads(0)


def test_the_host_may_launch_from_several_threads(blocks: Any) -> None:
    sums = [np.zeros(40, np.float32) for _ in range(4)]
    rows = np.ones((40, 64), np.float32)
    threads = [
        threading.Thread(target=blocks, args=("row_sums", rows, total, 40, 64)) for total in sums
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((total == 64).all() for total in sums)


def test_unwritten_shared_memory_shows_when_it_is_poisoned(blocks: Any) -> None:
    y = np.zeros(32, np.float32)
    blocks.runtime.poison_shared_memory(True)
    try:
        blocks("reads_unwritten", y)
    finally:
        blocks.runtime.poison_shared_memory(False)
    assert np.isnan(y[0])
    assert (y[1:] == 1).all()


@pytest.mark.parametrize("is_poisoned", [True, False])
def test_poison_does_no_harm_to_who_writes_before_reading(blocks: Any, is_poisoned: bool) -> None:
    x, y = (
        np.random.default_rng(0).random((30, 40)).astype(np.float32),
        np.zeros((40, 30), np.float32),
    )
    blocks.runtime.poison_shared_memory(is_poisoned)
    try:
        blocks("transpose", x, y, 30, 40)
    finally:
        blocks.runtime.poison_shared_memory(False)
    np.testing.assert_array_equal(y, x.T)


def test_work_goes_on_in_a_forked_child(blocks: Any) -> None:
    x, y = np.ones((8, 64), np.float32), np.zeros(8, np.float32)
    blocks("row_sums", x, y, 8, 64)
    pid = os.fork()
    if pid == 0:
        child = np.zeros(8, np.float32)
        blocks("row_sums", x, child, 8, 64)
        os._exit(0 if (child == 64).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


# Errors


@pytest.mark.parametrize(
    ("which", "threads", "code", "parts"),
    [
        (
            0,
            64,
            719,
            ["kernel deadlock_kernel, block (", "deadlock: of 64 threads", "__syncthreads"],
        ),
        (
            1,
            64,
            719,
            [
                "kernel warp_deadlock_kernel, block (0,0,0)",
                "59 wait at __syncthreads and 5 at a warp operation",
                "mask 0xffffffff",
            ],
        ),
        (2, 64, 719, ["__syncthreads_count while others of its block wait at __syncthreads"]),
        (3, 32, 719, ["is at a shuffle", "is at a vote"]),
        (4, 32, 719, ["mask 0x00000001, which does not name its own lane 1"]),
        (
            5,
            0,
            9,
            ["kernel deadlock_kernel: invalid configuration", "block (2048,1,1)", "1 to 1024"],
        ),
        (6, 0, 9, ["grid (0,1,1)"]),
        (7, 0, 9, ["grid (1,70000,1)", "65535"]),
        (8, 0, 9, ["block (1,1,65)"]),
        (9, 0, 1, ["300000 bytes of dynamic shared memory", "cudaFuncSetAttribute"]),
    ],
)
def test_what_goes_wrong_in_a_launch_is_told(
    blocks: Any, which: int, threads: int, code: int, parts: list[str]
) -> None:
    y = np.zeros(64, np.int32)
    assert blocks("broken", which, y, threads) == code
    message = blocks.runtime.take_error()
    for part in parts:
        assert part in message
    assert blocks.runtime.take_error() is None


def test_after_a_deadlock_the_next_launch_works(blocks: Any) -> None:
    for _ in range(3):
        blocks("broken", 0, np.zeros(1024, np.int32), 1024)
        x, y = np.ones((4, 64), np.float32), np.zeros(4, np.float32)
        blocks("row_sums", x, y, 4, 64)
        assert (y == 64).all()
    assert "deadlock" in blocks.runtime.take_error()


def test_more_than_48_kib_of_shared_memory_must_be_asked_for(blocks: Any) -> None:
    x, y = np.arange(32, dtype=np.float64), np.zeros(32)
    assert blocks("large_shared", x, y, 32, 0) == 1
    assert "65536 bytes" in blocks.runtime.take_error()
    assert blocks("large_shared", x, y, 32, 1) == 0
    assert blocks.runtime.take_error() is None
    np.testing.assert_array_equal(y, x[::-1])


def test_an_error_is_told_to_the_judge_even_if_the_submission_has_read_it(host_api: Any) -> None:
    assert host_api("swallowed_error", np.zeros(1, np.int32)) == 0
    assert "invalid configuration" in host_api.runtime.take_error()


# The host's side of CUDA


def test_memory_streams_and_events(host_api: Any) -> None:
    x = np.arange(100, dtype=np.int32)
    assert host_api("through_device_memory", x, 100) == 0
    np.testing.assert_array_equal(x, np.arange(1, 101))


def test_the_device_describes_itself(host_api: Any) -> None:
    facts = np.zeros(4, np.int32)
    assert host_api("device_facts", facts) == 0
    assert facts.tolist() == [32, 1024, 2, 2]


# Faults


FAULT = """
import ctypes, os, resource, sys
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
runtime = Runtime(sys.argv[1])
runtime.set_num_threads(int(sys.argv[3]))
x = (ctypes.c_int * 16)()
runtime.library.fault(99, x)
runtime.install_fault_handler(1)
runtime.library.fault(int(sys.argv[2]), x)
"""


@pytest.mark.parametrize(
    ("which", "threads", "line"),
    [
        (0, 1, r"illegal address 0x[0-9a-f]+ in kernel far_away, block \(0,0,0\)\n"),
        (0, 2, r"illegal address 0x[0-9a-f]+ in kernel far_away, block \([0-2],0,0\)\n"),
        (1, 1, r"illegal address 0x[0-9a-f]+ in kernel far_away_after_barrier, block \(0,0,0\), thread \(7,0,0\)\n"),
        (2, 1, r"whole-number division by zero in kernel divides, block \(0,0,0\)\n"),
        (3, 1, r"__trap\(\) or an illegal instruction in kernel traps, block \(0,0,0\)\n"),
        (4, 1, r"abort\(\) or a failed assert\(\) in kernel asserts, block \(0,0,0\)\n"),
        (5, 1, r"the local variables of a thread take more than 128 KiB in kernel deep, block \(0,0,0\), thread \([0-3],0,0\)\n"),
        (7, 1, r"misaligned address, or one that cannot exist, in kernel far_away_after_barrier, block \(0,0,0\), thread \(7,0,0\)\n"),
        (6, 1, r"illegal address 0x0 outside any kernel\n"),
    ],
)  # fmt: skip
def test_a_fault_is_told_in_one_line(faults: Any, which: int, threads: int, line: str) -> None:
    command = [sys.executable, "-c", FAULT, faults.build.library, str(which), str(threads)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 139, ended.stderr
    assert re.fullmatch(line, ended.stdout), ended.stdout


def test_threads_start_with_the_first_launch(faults: Any) -> None:
    script = (
        "import os, sys\n"
        "from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "runtime = Runtime(sys.argv[1])\n"
        "runtime.set_num_threads(4)\n"
        "assert len(os.listdir('/proc/self/task')) == before\n"
    )
    subprocess.run([sys.executable, "-c", script, faults.build.library], check=True)


def test_idle_threads_sleep(blocks: Any) -> None:
    blocks("row_sums", np.ones((8, 64), np.float32), np.zeros(8, np.float32), 8, 64)
    tasks = Path("/proc/self/task")
    names = [int(task.name) for task in tasks.iterdir() if int(task.name) != os.getpid()]
    for _ in range(200):
        states = [
            (tasks / str(name) / "stat").read_text().rsplit(")", 1)[1].split()[0] for name in names
        ]
        if set(states) <= {"S"}:
            return
        threading.Event().wait(0.01)
    pytest.fail(f"threads are still busy: {states}")


def test_a_build_depends_on_every_module_that_has_a_part_in_it() -> None:
    folder = Path(runtime_build.__file__).parents[1]

    def imports(path: Path) -> set[str]:
        text = path.read_text()
        return set(re.findall(r"^from cuda_gym\.judge\.toolchains\.(\w+) ", text, re.M))

    reached, left = set(), {"cpu", "cuda_program"}
    left.update(*map(imports, (folder / "cuda_on_cpu").rglob("*.py")))
    while left:
        name = left.pop()
        reached.add(name)
        left |= imports(folder / f"{name}.py") - reached
    assert {path.stem for path in runtime_build._TOOLCHAINS} == reached
