"""Few processes open a device at the same time."""

from __future__ import annotations

import threading
import time

from cuda_gym.judge.sandbox.openings import Openings

_MANY = 8
_WAIT_S = 20.0


def test_a_few_open_at_once_and_all_have_their_turn() -> None:
    openings = Openings()
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
