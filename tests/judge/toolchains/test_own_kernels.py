"""What seals and sums up regions, run on the host: the same source, by our own toolchain."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path

import numpy as np
import pytest

from cuda_gym.core.task import Submission
from cuda_gym.errors import MissingTool
from cuda_gym.judge.sandbox.sealed_page import check_of
from cuda_gym.judge.toolchains import own_kernels
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.own_kernels import own_cubin
from cuda_gym.judge.toolchains.toolkit import find_nvcc

SOURCE = Path(own_kernels.__file__).with_name("sealing.cu").read_text("utf-8")
LAUNCHERS = """
extern "C" void run_hold(Word* page, Word* state, Word most) { hold<<<1, 1>>>(page, state, most); }
extern "C" void run_seal(Word* words, Word count, const Word* state, Word first) {
    seal<<<3, 64>>>(words, count, state, first);
}
extern "C" void run_sum(const Word* words, Word count, Word* state) { sum_up<<<3, 64>>>(words, count, state); }
extern "C" void run_tell(Word* page, const Word* state) { tell<<<1, 1>>>(page, state); }
"""
Words = np.ndarray[tuple[int], np.dtype[np.uint64]]


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    files = {"kernels/sealing.cu": SOURCE + LAUNCHERS, "model_new.py": ""}
    runtime = Runtime(CpuToolchain().build(Submission.of(files)).library)
    return runtime.library


def words(*values: int) -> Words:
    return np.array(values, np.uint64)


def at(array: Words) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def sealed(library: ctypes.CDLL, given: Words, key: int, first: int = 0) -> Words:
    done = given.copy()
    library.run_seal(
        at(done), ctypes.c_uint64(len(done)), at(words(key, 0)), ctypes.c_uint64(first)
    )
    return done


def total(library: ctypes.CDLL, given: Words) -> int:
    state = words(0, 0)
    library.run_sum(at(given), ctypes.c_uint64(len(given)), at(state))
    return int(state[1])


def test_the_stream_is_philox_as_its_authors_publish_it(library: ctypes.CDLL) -> None:
    stream = sealed(library, words(0, 0), key=0)
    assert [f"{word:016x}" for word in stream] == ["e169c58d6627e8d5", "9b00dbd8bc57ac4c"]


def test_what_is_sealed_twice_is_open_whatever_its_length(library: ctypes.CDLL) -> None:
    for count in (1, 2, 3, 1000, 1001):
        given = np.arange(count, dtype=np.uint64)
        once = sealed(library, given, key=0xFEEDFACECAFEBEEF)
        assert not np.any(once == given)
        assert np.array_equal(sealed(library, once, key=0xFEEDFACECAFEBEEF), given)


def test_a_part_is_sealed_as_it_is_in_the_whole(library: ctypes.CDLL) -> None:
    given = np.arange(64, dtype=np.uint64)
    whole = sealed(library, given, key=77)
    assert np.array_equal(sealed(library, given[32:], key=77, first=16), whole[32:])


def test_another_key_gives_another_stream(library: ctypes.CDLL) -> None:
    given = np.zeros(1000, np.uint64)
    streams = [sealed(library, given, key=key) for key in (1, 2, 1 << 32)]
    for one, other in itertools.pairwise(streams):
        differing = np.unpackbits((one ^ other).view(np.uint8)).mean()
        assert differing == pytest.approx(0.5, abs=0.01)


def test_every_bit_and_every_place_counts_in_a_sum(library: ctypes.CDLL) -> None:
    given = np.arange(1000, dtype=np.uint64)
    sums = {total(library, given)}
    for bit in range(0, 64, 7):
        changed = given.copy()
        changed[123] ^= np.uint64(1 << bit)
        sums.add(total(library, changed))
    swapped = given.copy()
    swapped[[3, 700]] = swapped[[700, 3]]
    sums |= {total(library, swapped), total(library, given[:-1])}
    assert len(sums) == 1 + 10 + 2


def test_a_gate_takes_the_key_and_the_sum_is_told_with_its_check(library: ctypes.CDLL) -> None:
    key, state = 0x1234567890ABCDEF, words(5, 5)
    page = np.zeros(512, np.uint64)
    page[:2] = key, check_of(key)
    library.run_hold(at(page), at(state), ctypes.c_uint64(1 << 60))
    assert state.tolist() == [key, 0]
    state[1] = 99
    library.run_tell(at(page), at(state))
    assert page[16:18].tolist() == [99, check_of(99)]


def test_a_gate_that_nobody_opens_ends(library: ctypes.CDLL) -> None:
    page, state = np.zeros(512, np.uint64), words(5, 5)
    library.run_hold(at(page), at(state), ctypes.c_uint64(1_000_000))
    assert state[1] == 0


def test_the_judges_kernels_are_compiled_once(tmp_path: Path) -> None:
    try:
        find_nvcc()
    except MissingTool as missing:
        pytest.skip(str(missing))
    cache = BuildCache(tmp_path)
    cubin = own_cubin("sm_90a", cache)
    made = cubin.stat().st_mtime_ns
    assert cubin.read_bytes()[:4] == b"\x7fELF"
    assert own_cubin("sm_90a", cache).stat().st_mtime_ns == made
    assert own_cubin("sm_80", cache) != cubin
    with pytest.raises(MissingTool, match=r"sm_10.*newer toolkit"):
        own_cubin("sm_10", cache)
