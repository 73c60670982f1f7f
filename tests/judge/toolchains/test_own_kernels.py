"""What seals and sums up regions, run on the host: the same source, by our own toolchain."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuda_gym.core.task import Submission
from cuda_gym.errors import MissingTool
from cuda_gym.judge.sandbox.sealed_page import check_of, mixed
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
extern "C" void run_digest(const Output* outputs, Word num_outputs, Word num_units, Block* digests, Word* state) {
    sum_up<<<3, UNIT_THREADS>>>(outputs, num_outputs, num_units, digests);
    fold<<<1, FOLD_THREADS>>>(digests, num_units, state);
}
extern "C" void run_tell(Word* page, const Word* state) { tell<<<1, 1>>>(page, state); }
"""
UNIT_BYTES = 4096 * 16
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


def digest(library: ctypes.CDLL, *outputs: np.ndarray[Any, Any]) -> tuple[int, int]:
    table, unit = list[int](), 0
    for output in outputs:
        table += [output.ctypes.data, output.nbytes, unit]
        unit += -(-output.nbytes // UNIT_BYTES)
    digests, state = np.zeros(2 * unit + 2, np.uint64), words(0, 0, 0, 0)
    counts = ctypes.c_uint64(len(outputs)), ctypes.c_uint64(unit)
    library.run_digest(at(words(*table)), *counts, at(digests), at(state))
    return int(state[2]), int(state[3])


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


def test_every_bit_and_every_place_counts_in_a_digest(library: ctypes.CDLL) -> None:
    given = np.arange(3 * UNIT_BYTES // 8 + 100, dtype=np.uint64)
    found = {digest(library, given)}
    for place, bit in ((0, 0), (123, 7), (10_000, 33), (len(given) - 1, 63)):
        changed = given.copy()
        changed[place] ^= np.uint64(1 << bit)
        found.add(digest(library, changed))
    for one, other in ((2, 700), (2, 4), (5, 20_000)):
        swapped = given.copy()
        swapped[[one, other]] = swapped[[other, one]]
        found.add(digest(library, swapped))
    found |= {digest(library, given[:-1]), digest(library, given[:-1], given[-1:])}
    assert len(found) == 1 + 4 + 3 + 2
    assert digest(library, given) == digest(library, given.copy())


def test_outputs_of_any_size_at_any_place_have_a_digest(library: ctypes.CDLL) -> None:
    memory = np.frombuffer(bytes(range(256)) * 600, np.uint8).copy()
    aligned = memory[: UNIT_BYTES + 77]
    moved = np.zeros(len(memory) + 16, np.uint8)[3:][: len(aligned)]
    moved[:] = aligned
    small = memory[:1]
    assert digest(library, aligned, small) == digest(library, moved, small.copy())
    assert digest(library, aligned, small) != digest(library, small, aligned)
    assert digest(library) == digest(library)


def test_a_gate_takes_the_key_and_the_sum_is_told_with_its_check(library: ctypes.CDLL) -> None:
    key, state = 0x1234567890ABCDEF, words(5, 5, 5, 5)
    page = np.zeros(512, np.uint64)
    page[:2] = key, check_of(key)
    library.run_hold(at(page), at(state), ctypes.c_uint64(1 << 60))
    assert state[0] == key
    state[2:] = 99, 7
    library.run_tell(at(page), at(state))
    assert page[16:19].tolist() == [99, 7, check_of(99 ^ mixed(7))]


def test_a_gate_that_nobody_opens_ends(library: ctypes.CDLL) -> None:
    page, state = np.zeros(512, np.uint64), words(5, 5)
    library.run_hold(at(page), at(state), ctypes.c_uint64(1_000_000))
    assert state[0] == 0


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
