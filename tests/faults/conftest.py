"""A judge of its own, with a folder for temporary files that nobody else uses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import QUICK
from tests.faults.traces import require_as_before, traces

from cuda_gym.core.device import Device
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.sandbox.deadlines import Deadlines


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where everything that is begun here puts its temporary files."""
    folder = tmp_path_factory.mktemp("own")
    for headers in Path(tempfile.gettempdir()).glob("torchinductor_*"):
        (folder / headers.name).symlink_to(headers)  # to compile them anew takes ten seconds
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        yield folder


@pytest.fixture(scope="module")
def own_judge(own_folder: Path, cache_folder: Path) -> Iterator[Judge]:
    """A judge that leaves nothing behind when it is closed, whatever has happened to it."""
    (own_folder / "cuda_gym-0").mkdir(exist_ok=True)
    before = traces()
    config = JudgeConfig(
        memory_bytes=2 << 30,
        timing=QUICK,
        folder=cache_folder,
        deadlines=Deadlines(load_s=6.0, run_s=6.0),
    )
    judge = Judge(Device("cpu"), config)
    yield judge
    judge.close()
    require_as_before(before)
