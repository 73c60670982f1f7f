"""Few processes open a device at the same time."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.openings import Openings

_MANY = 8
_WAIT_S = 20.0


def test_a_few_open_at_once_and_all_have_their_turn(tmp_path: Path) -> None:
    openings = Openings(DeviceLock(Device.parse("cpu"), tmp_path))
    count = most = done = 0
    guard = threading.Lock()

    def open_one() -> None:
        nonlocal count, most, done
        with openings.one():
            with guard:
                count += 1
                most = max(most, count)
            time.sleep(0.005)
            with guard:
                count, done = count - 1, done + 1

    threads = [threading.Thread(target=open_one) for _ in range(_MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_WAIT_S)
    assert done == _MANY
    assert 1 <= most < _MANY // 2


def test_nobody_opens_while_somebody_times(tmp_path: Path) -> None:
    lock = DeviceLock(Device.parse("cpu"), tmp_path)
    opened = threading.Event()

    def open_one() -> None:
        with Openings(lock).one():
            opened.set()

    with lock.exclusive():
        thread = threading.Thread(target=open_one)
        thread.start()
        assert not opened.wait(0.05)
    assert opened.wait(_WAIT_S)
    thread.join(_WAIT_S)
