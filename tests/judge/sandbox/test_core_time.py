from __future__ import annotations

import os
import time

from cuda_gym.judge.sandbox.core_time import CoreTime


def of_this_process() -> CoreTime:
    pidfd = os.pidfd_open(os.getpid())
    cores = CoreTime(pidfd)
    os.close(pidfd)
    return cores


def test_it_counts_what_a_process_works_and_not_what_it_waits() -> None:
    cores = of_this_process()
    cores.most = 1
    before, until = cores.taken_s(), time.process_time() + 0.05
    while time.process_time() < until:
        pass
    worked = cores.wall_s(before)
    assert worked >= 0.05
    before = cores.taken_s()
    time.sleep(0.2)
    assert cores.wall_s(before) < 0.1


def test_what_several_cores_may_do_takes_them_a_part_of_it() -> None:
    cores = of_this_process()
    cores.most = 4
    cores.taken_s()
    assert cores.wall_s(cores.taken_s() - 1.0) >= 0.25
    assert cores.wall_s(cores.taken_s() - 1.0) < 0.5


def test_nothing_is_counted_before_it_is_known_how_many_there_are() -> None:
    cores = of_this_process()
    assert cores.taken_s() == 0.0
    assert cores.wall_s(0.0) == 0.0
