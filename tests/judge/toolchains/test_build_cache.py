from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from cuda_gym.errors import StorageError
from cuda_gym.judge.toolchains.build_cache import BuildCache


def publish(cache: BuildCache, key: str, content: bytes = b"library") -> Path:
    with cache.workspace() as folder:
        (folder / "built").write_bytes(content)
        return cache.publish(key, {"kernels.so": folder / "built"}, {"kernels": [key]})


def _publish_in_another_process(folder: Path, number: int) -> None:
    cache = BuildCache(folder)
    for key in range(20):
        publish(cache, f"key{key}", f"from {number}".encode())
        found = cache.find(f"key{key}")
        assert found is not None
        assert found[1] == {"kernels": [f"key{key}"]}


def test_what_was_published_is_found_with_its_facts(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    entry = publish(cache, "a")
    assert cache.find("a") == (entry, {"kernels": ["a"]})
    assert (entry / "kernels.so").read_bytes() == b"library"
    assert BuildCache(tmp_path).find("a") is not None


def test_what_was_never_published_is_not_found(tmp_path: Path) -> None:
    assert BuildCache(tmp_path).find("a") is None
    assert BuildCache(tmp_path / "not there").find("a") is None


@pytest.mark.parametrize("broken", ["build.json", "kernels.so"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b"other text"])
def test_a_broken_entry_is_not_found_and_can_be_built_again(
    tmp_path: Path, broken: str, content: bytes | None
) -> None:
    cache = BuildCache(tmp_path)
    entry = publish(cache, "a")
    if content is None:
        (entry / broken).unlink()
    else:
        (entry / broken).write_bytes(content)
    assert cache.find("a") is None
    assert cache.find("a") is None
    publish(cache, "a", b"again")
    found = cache.find("a")
    assert found is not None
    assert (found[0] / "kernels.so").read_bytes() == b"again"


def test_a_broken_entry_is_replaced_by_who_publishes_next(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    (publish(cache, "a") / "kernels.so").write_bytes(b"half")
    publish(cache, "a", b"whole")
    found = cache.find("a")
    assert found is not None
    assert (found[0] / "kernels.so").read_bytes() == b"whole"


def test_the_first_of_two_publishers_wins(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    publish(cache, "a", b"first")
    entry = publish(cache, "a", b"second")
    assert (entry / "kernels.so").read_bytes() == b"first"


def test_many_processes_publish_the_same_keys_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_publish_in_another_process, args=(tmp_path, number))
        for number in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    left = sorted(path.name for path in (tmp_path / "builds").iterdir())
    assert left == sorted(f"key{number}" for number in range(20))


def test_a_sweep_removes_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path, limit_bytes=2500)
    for number, key in enumerate("abc"):
        os.utime(publish(cache, key, b"x" * 1000), (number, number))
    assert cache.find("a") is not None  # used just now
    cache.sweep()
    assert cache.find("a") is not None
    assert cache.find("b") is None
    assert cache.find("c") is not None


def test_publishing_sweeps_now_and_then(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path, limit_bytes=10_000)
    for number in range(200):
        publish(cache, f"key{number}", b"x" * 1000)
    assert len(list((tmp_path / "builds").iterdir())) < 100


def test_a_sweep_removes_what_a_killed_process_has_left(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    publish(cache, "a")
    for name, age_s in ((".work-old", 7200), (".work-new", 0)):
        folder = tmp_path / "builds" / name
        folder.mkdir()
        os.utime(folder, (time.time() - age_s, time.time() - age_s))
    cache.sweep()
    assert sorted(p.name for p in (tmp_path / "builds").iterdir()) == [".work-new", "a"]


def test_a_folder_that_cannot_be_made_is_told_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "builds").write_text("a file in the way")
    with pytest.raises(StorageError, match=r"cannot be written: .*CUDA_GYM_CACHE"):
        publish(BuildCache(tmp_path), "a")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_may_only_be_read_still_finds(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    publish(cache, "a")
    folder = tmp_path / "builds"
    folder.chmod(0o555)
    try:
        assert cache.find("a") is not None
        with pytest.raises(StorageError, match="Permission denied"):
            publish(cache, "b")
    finally:
        folder.chmod(0o755)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_is_full_while_building_is_told_with_a_remedy(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match=r"No space left on device.*CUDA_GYM_CACHE"),
        BuildCache(tmp_path).workspace(),
    ):
        Path("/dev/full").write_bytes(b"x")
    assert list((tmp_path / "builds").iterdir()) == []


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_GYM_CACHE", str(tmp_path / "elsewhere"))
    assert publish(BuildCache(), "a").is_relative_to(tmp_path / "elsewhere")
