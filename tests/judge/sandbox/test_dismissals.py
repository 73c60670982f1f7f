"""A candidate is ended where nobody is timed who could be disturbed by that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.judge.scripted_means import ScriptedCandidate

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.dismissals import Dismissals


@pytest.fixture
def ahead() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as ahead:
        yield ahead


@pytest.fixture
def lock(tmp_path: Path) -> DeviceLock:
    return DeviceLock(Device.parse("cpu"), tmp_path)


def candidate() -> Any:
    return ScriptedCandidate()


def test_the_end_of_a_candidate_waits_for_whoever_is_timed(
    ahead: ThreadPoolExecutor, lock: DeviceLock
) -> None:
    leaving = candidate()
    with lock.exclusive():
        Dismissals(lock, ahead).dismiss(leaving)
        time.sleep(0.05)
        assert not leaving.is_closed
    ahead.shutdown()
    assert leaving.is_closed


def test_where_it_disturbs_nobody_it_is_at_once(lock: DeviceLock) -> None:
    leaving = candidate()
    with lock.exclusive():
        Dismissals(lock, None).dismiss(leaving)
        assert leaving.is_closed


def test_who_still_waits_is_ended_with_the_judge(
    ahead: ThreadPoolExecutor, lock: DeviceLock
) -> None:
    dismissals, before, after = Dismissals(lock, ahead), candidate(), candidate()
    with lock.exclusive():
        dismissals.dismiss(before)
        dismissals.close()
        assert before.is_closed
        ahead.shutdown(wait=False)
        dismissals.dismiss(after)
        assert after.is_closed
