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
    mixed,
    new_key,
)

KEY = 0x0123456789ABCDEF
LOW, HIGH = (1 << 64) - 2, 12345
DIGEST = HIGH << 64 | LOW
CHECK = check_of(LOW ^ mixed(HIGH))


@contextlib.contextmanager
def device(play: Callable[[SealedPage, memoryview], None]) -> Iterator[SealedPage]:
    """A page, at the other end of which somebody plays the device."""
    page = SealedPage.create(num_outputs=3)
    theirs = SealedPage.open(page.export())
    with memoryview(theirs._mapped) as words:
        thread = threading.Thread(target=play, args=(theirs, words))
        thread.start()
        yield page
        thread.join()
    page.close()


def word(words: memoryview, place: int) -> int:
    return int.from_bytes(words[8 * place : 8 * place + 8], "little")


def tell(words: memoryview, check: int) -> None:
    for place, value in ((16, LOW), (17, HIGH), (18, check)):
        words[8 * place : 8 * place + 8] = value.to_bytes(8, "little")


def wait_for_key(words: memoryview) -> int:
    while word(words, 1) != check_of(word(words, 0)):
        time.sleep(1e-4)
    return word(words, 0)


def witness(
    page: SealedPage, *, queue_s: float = 5.0, most_s: float = 5.0, begin_s: float = 0.01
) -> Witnessed:
    return page.witness(KEY, queue_s=queue_s, most_s=most_s, begin_s=begin_s)


def test_the_gate_opens_when_the_block_is_queued_and_the_clock_stops_at_the_digest() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        assert word(words, 1) == 0
        page.say_queued()
        assert wait_for_key(words) == KEY
        time.sleep(0.05)
        tell(words, CHECK)

    with device(play) as page:
        seen = witness(page)
    assert seen.was_queued
    assert seen.digest == DIGEST
    assert 50_000.0 <= seen.wall_us < 5e6


def test_what_comes_before_a_block_is_begun_takes_none_of_its_time() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        time.sleep(0.4)
        page.say_begun()
        page.say_queued()
        wait_for_key(words)
        tell(words, CHECK)

    with device(play) as page:
        seen = witness(page, queue_s=0.05, begin_s=5.0)
    assert seen.was_queued
    assert seen.wall_us < 0.4e6


def test_a_block_that_is_begun_and_never_queued_is_let_go_all_the_same() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        page.say_begun()
        wait_for_key(words)
        tell(words, CHECK)

    with device(play) as page:
        seen = witness(page, queue_s=0.0, begin_s=5.0)
    assert not seen.was_queued
    assert seen.digest == DIGEST


def test_a_block_that_is_never_queued_is_let_go_all_the_same() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        wait_for_key(words)
        tell(words, CHECK)
        page.say_queued()

    with device(play) as page:
        seen = witness(page, queue_s=0.01)
    assert not seen.was_queued
    assert seen.digest == DIGEST


def test_a_block_that_is_over_without_a_digest_has_none() -> None:
    def play(page: SealedPage, words: memoryview) -> None:
        wait_for_key(words)
        end_sealed(page._descriptor)

    with device(play) as page:
        assert witness(page, queue_s=0.01).digest is None


@pytest.mark.parametrize("check", [CHECK ^ 2, 12345])
def test_a_digest_that_was_not_written_whole_is_none(check: int) -> None:
    with device(lambda _, words: tell(words, check)) as page:
        assert witness(page, queue_s=0.05).digest is None


def test_a_digest_that_is_there_when_the_clock_has_stopped_is_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = SealedPage.create(num_outputs=1)
    words = memoryview(page._mapped)
    tell(words, 12345)  # stops the clock
    honest, readings = time.perf_counter_ns, list[int]()

    def clock() -> int:
        readings.append(honest())
        tell(words, CHECK)
        return readings[-1]

    monkeypatch.setattr(time, "perf_counter_ns", clock)
    seen = page.wait(honest(), was_queued=True, most_s=5.0)
    words.release()
    page.close()
    assert readings
    assert seen.digest is None


def test_nobody_waits_for_ever() -> None:
    with device(lambda *_: None) as page:
        seen = witness(page, queue_s=0.01, most_s=0.05)
    assert seen.digest is None
    assert seen.wall_us >= 50_000.0


def test_keys_are_secrets_of_64_bits() -> None:
    keys = {new_key() for _ in range(64)}
    assert len(keys) == 64
    assert max(keys).bit_length() > 56


def test_a_page_keeps_its_size_and_closes_once() -> None:
    page = SealedPage.create(num_outputs=3)
    descriptor = page.export()
    with pytest.raises(OSError, match="not permitted"):
        os.ftruncate(descriptor, 1)
    os.close(descriptor)
    page.close()
    page.close()


def test_a_page_has_room_for_a_place_of_every_output() -> None:
    page = SealedPage.create(num_outputs=1000)
    place = page.write_table(b"x" * 24_000)
    assert place - page.address == 4096
    assert page.num_bytes == 4096 + 24_576
    page.close()
