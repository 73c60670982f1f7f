"""The memory check of a GPU, from the judge's side: a script plays compute-sanitizer, all else is real."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build
from cuda_gym.core.task import Task
from cuda_gym.errors import UnsupportedOnDevice
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.sanitized_runs import SanitizedRuns
from cuda_gym.judge.toolchains.cpu import CpuToolchain

SCRIPT = """\
#!/bin/sh
while [ "${1#--}" != "$1" ]; do
    case $1 in --log-file) log=$2;; --tool) tool=$2;; esac
    shift 2
done
echo "========= COMPUTE-SANITIZER" > "$log"
if [ $tool = racecheck ]; then cat >> "$log" <<END
========= Error: Race reported between Write access at scale_kernel(float *)+0x90 in /x/kernels/k0.cu:4
=========     and Read access at scale_kernel(float *)+0x100 in /x/kernels/k0.cu:4 [8 hazards]
END
fi
exec "$@"
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SanitizedRuns:
    """Of the device cpu, with an empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    cpu = Device("cpu")
    return SanitizedRuns(CpuToolchain(), cpu, DeviceLock(cpu), deadlines=Deadlines(), num_threads=1)


@pytest.fixture
def build(judge: Judge, scale_task: Task) -> Build:
    with judge._pool.reference(scale_task):
        pass  # its process is kept, and other tests want it to find a compiler
    found = judge.compile(scale_task, submit(SCALE_MODEL, SCALE_KERNEL)).build
    assert found is not None
    return found


@pytest.mark.slow
def test_the_first_tool_that_finds_something_is_believed(
    judge: Judge, scale_task: Task, build: Build, runs: SanitizedRuns, tmp_path: Path
) -> None:
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(f"{SCRIPT}".replace("cat >>", "/bin/cat >>"))
    tool.chmod(0o755)
    submission = submit(SCALE_MODEL, SCALE_KERNEL)
    with judge._pool.reference(scale_task) as reference:
        [finding] = runs.run(scale_task, submission, reference, build)
    assert (finding.kind, finding.kernel) == ("data race", "scale_kernel")
    assert {(side.file, side.line) for side in finding.sides} == {("kernels/k0.cu", 4)}


def test_without_the_tool_nobody_is_accused_and_the_remedy_is_told(
    judge: Judge, scale_task: Task, build: Build, runs: SanitizedRuns
) -> None:
    submission = submit(SCALE_MODEL, SCALE_KERNEL)
    with judge._pool.reference(scale_task) as reference:
        with pytest.raises(UnsupportedOnDevice, match=r"no compute-sanitizer.*toolkit"):
            runs.run(scale_task, submission, reference, build)
        assert runs.try_run(scale_task, submission, reference, build) is None
