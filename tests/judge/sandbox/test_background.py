from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError

import pytest

from cuda_gym.judge.sandbox.background import Background

FOR_EVER = """
import threading
from cuda_gym.judge.sandbox.background import Background
background = Background("waits", most_at_once=1)
background.submit(threading.Event().wait)
background.submit(threading.Event().wait)
"""


def test_a_process_ends_though_its_background_work_does_not() -> None:
    subprocess.run([sys.executable, "-c", FOR_EVER], timeout=60, check=True)


def test_what_work_gives_or_raises_is_had_where_it_is_asked_for() -> None:
    background = Background("works")
    assert background.submit(int, "12").result(10) == 12
    with pytest.raises(ValueError, match="invalid literal"):
        background.submit(int, "twelve").result(10)


def test_no_more_than_is_allowed_runs_at_once() -> None:
    background, running, most = Background("works", most_at_once=2), [0], [0]
    lock = threading.Lock()

    def work() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.05)
        with lock:
            running[0] -= 1

    for future in [background.submit(work) for _ in range(6)]:
        future.result(10)
    assert most == [2]


def test_what_waits_for_its_turn_is_cancelled_when_no_more_is_taken() -> None:
    background, goes_on = Background("works", most_at_once=1), threading.Event()
    first, second = background.submit(goes_on.wait), background.submit(goes_on.wait)
    background.shutdown()
    goes_on.set()
    assert first.result(10)
    with pytest.raises(CancelledError):
        second.result(10)
    with pytest.raises(RuntimeError, match="No more work"):
        background.submit(goes_on.wait)
