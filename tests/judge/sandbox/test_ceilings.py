from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from cuda_gym.core.plain import as_plain
from cuda_gym.core.verdict import DeviceRates, Work
from cuda_gym.judge.sandbox.ceilings import known_rates, known_work
from cuda_gym.judge.sandbox.records import save_record

CPU = torch.device("cpu")
WORK = Work(read_bytes=12, written_bytes=4, flops=None)
RATES = DeviceRates(copy_gb_per_s=1e6, gflop_per_s=1e6, cache_bytes=1 << 20, num_cores=2)
FAST = as_plain(RATES)


def test_what_a_task_asks_for_is_found_out_once(tmp_path: Path) -> None:
    assert known_work(tmp_path, "w", lambda: WORK) == WORK
    assert known_work(tmp_path, "w", lambda: pytest.fail("it was remembered")) == WORK


def test_a_machine_that_was_measured_often_enough_is_not_measured_again(tmp_path: Path) -> None:
    save_record(tmp_path, "enough", {**FAST, "quiet": 3, "measured": 3})
    assert known_rates(tmp_path, "enough", CPU) == RATES


def test_measuring_again_keeps_the_best(tmp_path: Path) -> None:
    save_record(tmp_path, "again", {**FAST, "quiet": 0, "measured": 1})
    rates = known_rates(tmp_path, "again", CPU)
    assert rates.copy_gb_per_s == rates.gflop_per_s == 1e6
    assert json.loads((tmp_path / "again.json").read_text())["measured"] == 2


def test_a_record_that_cannot_be_read_is_measured(tmp_path: Path) -> None:
    save_record(tmp_path, "broken", {**FAST, "copy_gb_per_s": "much", "quiet": 2})
    rates = known_rates(tmp_path, "broken", CPU)
    assert 0.1 < rates.copy_gb_per_s < 2000
    assert 0.1 < rates.gflop_per_s < 100_000
    assert known_rates(tmp_path, "broken", CPU) is rates, "once in a process"
