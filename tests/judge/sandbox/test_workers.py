"""Whose fault it is that a candidate's process is of no use; and that one which rests holds nothing."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import torch

from cuda_gym.core.device import Device
from cuda_gym.errors import CandidateError, MachineError, WrongOutput
from cuda_gym.judge.sandbox.candidate import Candidate
from cuda_gym.judge.sandbox.candidate_faults import DeviceStopped
from cuda_gym.judge.sandbox.channel import Channel, Drain
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.messages import Failed, Fault, Message, Opened, RegionSpec, Run
from cuda_gym.judge.sandbox.pool import WorkerPool
from cuda_gym.judge.sandbox.workers import CandidateWorker

DEVICE = CpuWorkerDevice()


@pytest.fixture
def worker() -> Iterator[tuple[CandidateWorker, Channel]]:
    """The judge's end of a candidate, and what that says."""
    ours, theirs = Channel.pair()
    reading, writing = os.pipe()
    os.close(writing)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        pidfd = os.pidfd_open(process.pid)
        worker = CandidateWorker(ours, Drain(reading), threading.Event(), pidfd)
        said = Channel(theirs)
        yield worker, said
        said.close()
        worker.close()
        process.kill()


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(
        Device.parse("cpu"),
        num_threads=1,
        memory_bytes=1 << 30,
        max_references=1,
        folder=None,
        deadlines=Deadlines(),
    )
    yield pool
    pool.close()


def test_a_device_that_cannot_be_opened_is_the_machines_fault(
    worker: tuple[CandidateWorker, Channel],
) -> None:
    candidate, said = worker
    said.send(Opened(trouble="no memory is left"))
    with pytest.raises(MachineError, match="The device cannot be used: no memory is left"):
        candidate.rest(deadline_s=1.0)
    assert candidate.ended


@pytest.mark.parametrize(
    "later",
    [
        Opened(trouble="the machine fell over"),
        Fault(error="MachineError", message="the machine fell over"),
        Failed(kind="machine", message="the machine fell over"),
    ],
)
def test_who_says_so_later_is_not_believed(
    later: Message, worker: tuple[CandidateWorker, Channel]
) -> None:
    candidate, said = worker
    said.send(Opened(trouble=""))
    said.send(later)
    with pytest.raises(CandidateError):
        candidate.rest(deadline_s=1.0)


def test_a_fault_of_the_device_is_told_with_what_to_do(
    worker: tuple[CandidateWorker, Channel],
) -> None:
    candidate, said = worker
    said.send(Opened(trouble=""))
    said.send(Failed(kind="fault", message="an illegal memory access"))
    with pytest.raises(DeviceStopped, match=r"an illegal memory access.*check='memory'"):
        candidate.rest(deadline_s=1.0)


def test_a_fault_that_no_kernel_does_is_told_with_what_shows_the_state_of_the_gpu(
    worker: tuple[CandidateWorker, Channel],
) -> None:
    candidate, said = worker
    said.send(Opened(trouble=""))
    said.send(Failed(kind="fault", message="uncorrectable ECC error encountered, in forward"))
    with pytest.raises(DeviceStopped, match=r"ECC error encountered, in forward.*`nvidia-smi`"):
        candidate.rest(deadline_s=1.0)


def test_a_process_finds_out_that_there_is_no_such_device_before_it_loads_anything(
    pool: WorkerPool,
) -> None:
    candidate = pool._living_zygote().fork(
        Device.parse("cuda:99"), own_kernels="", memory_bytes=1 << 36
    )
    with pytest.raises(MachineError, match="The device cannot be used: "):
        candidate.wait_until_open()
    assert candidate.ended


def order(num_bytes: int) -> tuple[Handout, Run]:
    """Contents of one call, handed out as by a reference that has just begun to count."""
    handout = Handout.of(DEVICE, [[torch.ones(num_bytes // 4)]], [torch.empty(num_bytes // 4)])
    run = Run(
        input_region=RegionSpec(number=1, num_bytes=handout.input_bytes),
        output_region=RegionSpec(number=2, num_bytes=handout.output_bytes),
        inputs=handout.trees,
        outputs=handout.specs,
        poison=False,
        dry=True,
    )
    return handout, run


def test_a_race_that_fails_leaves_no_region_for_the_next_one(pool: WorkerPool) -> None:
    def fail() -> CandidateWorker:
        handout, run = order(64)
        with contextlib.suppress(WrongOutput), pool.dry() as dry:
            dry.run(run, *handout.descriptors(), deadline_s=5.0)
            raise WrongOutput("in a timed call")
        return dry

    dry = fail()
    handout, run = order(4096)
    with pool.dry() as again:
        assert again is dry
        ran, wall_s = again.run(run, *handout.descriptors(), deadline_s=5.0)
    assert len(ran.call_ns) == 1
    assert wall_s * 1e9 >= ran.call_ns[0] > 0


def test_who_rests_holds_no_region() -> None:
    candidate = Candidate(DEVICE)
    handout, run = order(64)
    descriptors = handout.descriptors()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    candidate.run(run, *descriptors)
    assert len(os.listdir("/proc/self/fd")) > before  # noqa: PTH208
    candidate.rest()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    for descriptor in descriptors:
        os.close(descriptor)
