"""A block without calls is timed from its gate on, whether that opens before it is queued or behind."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from cuda_gym.judge.sandbox import empty_blocks
from cuda_gym.judge.sandbox.empty_blocks import EmptyBlocks
from cuda_gym.judge.sandbox.records import save_record
from cuda_gym.judge.sandbox.sealed_page import SealedPage, check_of, mixed

PREPARING_S, QUEUEING_S, WORKING_S = 0.4, 0.03, 0.01
PLENTY_US = 1e6
DIGEST = 7


class Sealing:
    """A device that begins as soon as its gate is open, and works for a while."""

    def __init__(self) -> None:
        self.opened_before_all_was_queued: list[bool] = []

    def run(
        self,
        page: SealedPage,
        _inputs: object,
        produce: Callable[[], Sequence[torch.Tensor]],
        sizes: Sequence[int],
        *,
        when_begun: Callable[[], None],
        when_queued: Callable[[], None],
    ) -> None:
        assert [t.numel() * t.element_size() for t in produce()] == list(sizes)
        time.sleep(PREPARING_S)
        page.say_begun()
        when_begun()
        self.opened_before_all_was_queued.append(_word(page, 0) != 0)
        time.sleep(QUEUEING_S)
        page.say_queued()
        works = threading.Thread(target=_work, args=(page,))
        works.start()
        when_queued()
        works.join()


def _word(page: SealedPage, place: int) -> int:
    return int.from_bytes(page._mapped[8 * place : 8 * place + 8], "little")


def _work(page: SealedPage) -> None:
    while not _word(page, 1):
        time.sleep(1e-4)
    time.sleep(WORKING_S)
    for place, value in ((16, DIGEST), (17, 0), (18, check_of(DIGEST ^ mixed(0)))):
        page._mapped[8 * place : 8 * place + 8] = value.to_bytes(8, "little")


def measured_us(folder: Path, sealing: Sealing, *, queued: bool) -> float:
    device = cast("Any", SimpleNamespace(sealing=sealing))
    handout = cast("Any", SimpleNamespace(returned=lambda: [torch.zeros(3)], inputs=None))
    return EmptyBlocks(device, records=folder, key="k").measure_us(handout, 2, queued=queued)


@pytest.mark.parametrize("queued", [True, False])
def test_neither_what_comes_before_nor_a_wait_for_the_host_is_left_out_or_counted_twice(
    queued: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(empty_blocks, "_room", lambda region, _device: region)
    monkeypatch.setattr(empty_blocks, "_MOST_HOST_US", PLENTY_US)
    sealing = Sealing()
    us = measured_us(tmp_path, sealing, queued=queued)
    least_s = WORKING_S if queued else WORKING_S + QUEUEING_S
    assert least_s <= us * 1e-6 < least_s + PREPARING_S
    assert sealing.opened_before_all_was_queued[0] is not queued


def test_who_slows_down_a_block_that_is_not_queued_is_believed_no_more_than_a_host_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(empty_blocks, "_room", lambda region, _device: region)
    monkeypatch.setattr(sys.modules[__name__], "PREPARING_S", 0.0)
    least_us = 500.0
    save_record(tmp_path, "k", {"2": least_us})
    us = measured_us(tmp_path, Sealing(), queued=False)
    assert us <= 1.05 * least_us + 5.0 + empty_blocks._MOST_HOST_US


@pytest.mark.parametrize(
    ("known", "most_us"), [(1, 2 * 1.05 * 300.0 + 5.0), (4, 1.05 * 300.0 / 2 + 60.0)]
)
def test_of_another_number_of_calls_no_more_is_believed_than_those_that_are_known_allow(
    known: int, most_us: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(empty_blocks, "_room", lambda region, _device: region)
    monkeypatch.setattr(sys.modules[__name__], "PREPARING_S", 0.0)
    save_record(tmp_path, "k", {str(known): 300.0})
    for _ in range(2):  # nor is anything else remembered
        assert measured_us(tmp_path, Sealing(), queued=True) <= 1.05 * most_us + 5.0
