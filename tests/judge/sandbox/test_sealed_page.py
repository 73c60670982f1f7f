"""A page by which a block is held and let go; a thread plays the device."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from cuda_gym.judge.sandbox.sealed_page import (
    SealedPage,
    Witnessed,
    check_of,
    end_sealed,
    new_key,
)

KEY = 0x0123456789ABCDEF
SUM = (1 << 64) - 2


@contextlib.contextmanager
def device(play: Callable[[SealedPage, memoryview], None]) -> Iterator[SealedPage]:
    """A page, at the other end of which somebody plays the device."""
    page = SealedPage.create()
    theirs = SealedPage.open(page.export())
    with memoryview(theirs._mapped) as words:
        thread = threading.Thread(target=play, args=(theirs, words))
        thread.start()
        yield page
        thread.join()
    page.close()


def word(words: memoryview, place: int) -> int:
    return int.from_bytes(words[8 * place : 8 * place + 8], "little")


def tell(words: memoryview, total: int, check: int) -> None:
    words[8 * 16 : 8 * 17] = total.to_bytes(8, "little")
    words[8 * 17 : 8 * 18] = check.to_bytes(8, "little")


def wait_for_key(words: memoryview) -> int:
    while word(words, 1) != check_of(word(words, 0)):
        time.sleep(1e-4)
    return word(words, 0)


def witness(page: SealedPage, *, queue_s: float = 5.0, most_s: float = 5.0) -> Witnessed:
    return page.witness(KEY, queue_s=queue_s, most_s=most_s)


def test_the_gate_opens_when_the_block_is_queued_and_the_clock_stops_at_the_sum() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        assert word(words, 1) == 0
        page.say_queued()
        assert wait_for_key(words) == KEY
        time.sleep(0.05)
        tell(words, SUM, check_of(SUM))

    with device(play) as page:
        seen = witness(page)
    assert seen.was_queued
    assert seen.sum == SUM
    assert 50_000.0 <= seen.wall_us < 5e6


def test_a_block_that_is_never_queued_is_let_go_all_the_same() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        wait_for_key(words)
        tell(words, SUM, check_of(SUM))
        page.say_queued()

    with device(play) as page:
        seen = witness(page, queue_s=0.01)
    assert not seen.was_queued
    assert seen.sum == SUM


def test_a_block_that_is_over_without_a_sum_has_none() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        wait_for_key(words)
        end_sealed(page._descriptor)

    with device(play) as page:
        assert witness(page, queue_s=0.01).sum is None


@pytest.mark.parametrize("check", [check_of(SUM) ^ 2, 12345])
def test_a_sum_that_was_not_written_whole_is_none(check: int) -> None:
    with device(lambda _, words: tell(words, SUM, check)) as page:
        assert witness(page, queue_s=0.05).sum is None


def test_nobody_waits_for_ever() -> None:
    with device(lambda *_: None) as page:
        seen = witness(page, queue_s=0.01, most_s=0.05)
    assert seen.sum is None
    assert seen.wall_us >= 50_000.0


def test_keys_are_secrets_of_64_bits() -> None:
    keys = {new_key() for _ in range(64)}
    assert len(keys) == 64
    assert max(keys).bit_length() > 56


def test_a_page_keeps_its_size_and_closes_once() -> None:
    page = SealedPage.create()
    descriptor = page.export()
    with pytest.raises(OSError, match="not permitted"):
        os.ftruncate(descriptor, 1)
    os.close(descriptor)
    page.close()
    page.close()
