from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.fake_driver import driver

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


def is_taken(lock: DeviceLock) -> bool:
    """Whether somebody works on its device, or times there."""

    def take() -> None:
        with lock.exclusive():
            taken.set()

    taken = threading.Event()
    threading.Thread(target=take, daemon=True).start()
    return not taken.wait(0.2)


@pytest.mark.parametrize(
    ("name", "is_one_card"), [("NVIDIA H100 80GB HBM3 MIG 1g.10gb", True), ("NVIDIA H100", False)]
)
def test_slices_of_one_card_wait_for_each_other_and_cards_do_not(
    name: str, is_one_card: bool, tmp_path: Path
) -> None:
    with driver(tmp_path / "driver", FAKE_COUNT="2", FAKE_NAME=name):
        first, second = (DeviceLock(Device.parse(f"cuda:{i}"), tmp_path) for i in range(2))
    with first.shared():
        assert is_taken(second) == is_one_card


def test_every_interval_is_logged_inside_the_time_for_which_the_lock_was_held(
    lock: DeviceLock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "intervals.jsonl"
    monkeypatch.setenv("CUDA_GYM_LOCK_LOG", str(log))

    def work(number: int) -> None:
        with lock.exclusive() if number % 2 else lock.shared():
            time.sleep(0.002)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    intervals = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(intervals) == 12
    assert {interval["pid"] for interval in intervals} == {os.getpid()}
    for alone in (i for i in intervals if i["mode"] == "exclusive"):
        assert alone["end_ns"] - alone["start_ns"] >= 2_000_000
        others = (i for i in intervals if i is not alone)
        assert all(
            i["end_ns"] <= alone["start_ns"] or alone["end_ns"] <= i["start_ns"] for i in others
        )
