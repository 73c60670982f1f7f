from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cuda_gym.core.device import Device
from cuda_gym.errors import StorageError
from cuda_gym.judge.sandbox.device_lock import DeviceLock


@pytest.fixture
def lock(tmp_path: Path) -> DeviceLock:
    return DeviceLock(Device("cpu"), tmp_path)


def test_workers_share_and_a_timer_is_alone(lock: DeviceLock) -> None:
    order: list[str] = []
    working, timed = threading.Event(), threading.Event()

    def time_alone() -> None:
        working.wait()
        with lock.exclusive():
            order.append("timed")
        timed.set()

    timer = threading.Thread(target=time_alone)
    timer.start()
    with lock.shared(), lock.shared():
        working.set()
        assert not timed.wait(0.1)
        order.append("worked")
    timer.join()
    assert order == ["worked", "timed"]


def test_whoever_waits_to_time_goes_before_later_workers(lock: DeviceLock) -> None:
    order: list[str] = []
    first = lock.shared()
    first.__enter__()

    def time_alone() -> None:
        with lock.exclusive():
            order.append("timed")

    def work() -> None:
        with lock.shared():
            order.append("worked")

    timer = threading.Thread(target=time_alone)
    timer.start()
    threading.Event().wait(0.1)
    worker = threading.Thread(target=work)
    worker.start()
    threading.Event().wait(0.1)
    assert order == []
    first.__exit__(None, None, None)
    timer.join()
    worker.join()
    assert order == ["timed", "worked"]


def test_the_lock_of_a_killed_process_is_free(lock: DeviceLock, tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from cuda_gym.core.device import Device\n"
        "from cuda_gym.judge.sandbox.device_lock import DeviceLock\n"
        "with DeviceLock(Device('cpu'), Path(sys.argv[1])).exclusive(): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    with lock.exclusive():
        pass


def test_no_child_inherits_the_lock(lock: DeviceLock) -> None:
    with lock.exclusive():
        listing = subprocess.run(
            [sys.executable, "-c", "import os; print(os.listdir('/proc/self/fd'))"],
            capture_output=True, text=True, check=True, close_fds=False,
        )  # fmt: skip
        held = [
            name for name in os.listdir("/proc/self/fd")  # noqa: PTH208
            if Path(f"/proc/self/fd/{name}").exists()
            and "lock" in str(Path(f"/proc/self/fd/{name}").resolve())
        ]  # fmt: skip
    assert held
    assert not any(f"'{name}'" in listing.stdout for name in held)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="TMPDIR"):
        DeviceLock(Device("cpu"), tmp_path / "file" / "folder")
