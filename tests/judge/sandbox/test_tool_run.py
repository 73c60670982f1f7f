"""A candidate under a program that starts it: its walls, its log, its end. Shells play the tools."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cuda_gym.core.device import Device
from cuda_gym.errors import CandidateError, CandidateTimeout
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import Load, RegionSpec, Run, TensorSpec
from cuda_gym.judge.sandbox.tool_run import ToolFailed, ToolRun

CPU = Device("cpu")
WATCHES = 'log=$0; echo begun > "$log"; "$@"; echo "ended $?" >> "$log"; echo "a word"'


def watched(log: Path) -> tuple[str, ...]:
    return ("/bin/sh", "-c", WATCHES, str(log))


@pytest.fixture
def run() -> Iterator[ToolRun]:
    run = ToolRun(watched, device=CPU, lifetime_s=60)
    yield run
    run.close()
    run.close()


def load(source: str) -> Load:
    """Construct a model whose constructor is this."""
    lines = "".join(f"        {line}\n" for line in source.splitlines())
    return Load(
        source="import os, time, torch\nclass ModelNew(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n{lines}",
        library="",
        form="library",
        launchers=(),
        kernels=(),
        allowed_library=(),
        allow_tf32=False,
        init_args={"tuple": []},
        num_threads=1,
        check_blocks=0,
    )


WHERE = """
class ModelNew(torch.nn.Module):
    def forward(self, x):
        for line in open('/proc/self/maps'):
            start, end = (int(part, 16) for part in line.split()[0].split('-'))
            if start <= x.data_ptr() < end and 'memfd:inputs' in line:
                raise ValueError('the input lies beside others in a shared region')
        return torch.empty(4)
"""


def test_each_input_has_an_allocation_of_its_own(run: ToolRun) -> None:
    spec = TensorSpec(dtype="float32", shape=(4,), offset=0)
    inputs = MemfdRegion.create_inputs(64, [(spec, torch.ones(4))])
    outputs = MemfdRegion.create_outputs(64)
    tree = {"list": [{"tensor": {"dtype": "float32", "shape": [4], "offset": 0}}]}
    message = Run(
        input_region=RegionSpec(number=2, num_bytes=64),
        output_region=RegionSpec(number=3, num_bytes=64),
        inputs=(tree,),
        outputs=((spec,),),
        poison=False,
        dry=False,
    )
    candidate = run.candidate(deadline_s=30)
    candidate.load(replace(load("pass"), source="import torch\n" + WHERE), deadline_s=30)
    given, returned = inputs.export(), outputs.export()
    try:
        ran, _ = candidate.run(message, given, returned, deadline_s=30)
    finally:
        os.close(given)
        os.close(returned)
    assert len(ran.call_ns) == 1


def test_the_tool_sees_the_end_and_its_log_is_read(run: ToolRun) -> None:
    candidate = run.candidate(deadline_s=30)
    candidate.load(load("print('hello')"), deadline_s=30)
    assert candidate.isolation == "seccomp+rlimits"
    assert run.finish(deadline_s=10) == "begun\nended 0\n"


@pytest.mark.slow
def test_a_submission_cannot_signal_or_start_anybody(run: ToolRun) -> None:
    tries = "os.kill(os.getppid(), 0)", "os.fork()", "os.execv('/bin/true', ['true'])"
    source = "".join(
        f"try:\n    {line}\n    raise AssertionError\nexcept OSError: pass\n" for line in tries
    )
    run.candidate(deadline_s=30).load(load(source), deadline_s=30)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "error", "code"),
    [
        ("os._exit(7)", CandidateError, 7),
        ("time.sleep(99)", CandidateTimeout, 128 + signal.SIGQUIT),
    ],
)
def test_whatever_becomes_of_the_submission_the_log_is_whole(
    run: ToolRun, source: str, error: type[Exception], code: int
) -> None:
    candidate = run.candidate(deadline_s=30)
    with pytest.raises(error):
        candidate.load(load(source), deadline_s=2)
    assert run.finish(deadline_s=10) == f"begun\nended {code}\n"
    assert candidate.ended


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("/bin/sh", "-c", "echo no licence >&2; exit 3"), r"sh ended with code 3: no licence\."),
        (("/nowhere/tool",), r"/nowhere/tool does not start: No such file"),
        (("/bin/sleep", "9", "#"), r"sleep ended with code 1"),
        (("/bin/sh", "-c", "sleep 9"), r"sh did not start the submission in time"),
    ],
)
def test_a_tool_that_does_not_do_its_work_is_told(words: tuple[str, ...], said: str) -> None:
    start = time.monotonic()
    with (
        pytest.raises(ToolFailed, match=said),
        contextlib.closing(ToolRun(lambda _: words, device=CPU, lifetime_s=60)) as run,
    ):
        run.candidate(deadline_s=1.0)
    assert time.monotonic() - start < 5.0
