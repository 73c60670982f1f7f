from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.judge.toolchains.failed_launches import (
    FailedLaunch,
    describe_failed_launch,
    describe_later_error,
)

FACTS = FailedLaunch(
    kernel="scale<float>",
    text="invalid argument",
    grid=(8, 1, 1),
    block=(256, 1, 1),
    static_bytes=0,
    allowed_shared_bytes=49152,
    default_shared_bytes=49152,
    most_shared_bytes=232448,
    registers=32,
    most_block_threads=1024,
)


def test_what_was_asked_for_is_told_with_the_words_of_the_driver() -> None:
    said = describe_failed_launch(replace(FACTS, text="unspecified launch failure"))
    assert said == (
        "kernel scale<float> was launched with grid (8,1,1) and block (256,1,1): "
        "unspecified launch failure"
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"grid": (0, 1, 1)}, "a grid has at least 1 block"),
        ({"grid": (1, 70000, 1)}, "at most 65535 blocks along y and z"),
        ({"block": (32, 64, 1)}, "a block has 1 to 1024 threads, not 2,048"),
        ({"block": (0, 1, 1)}, "a block has 1 to 1024 threads, not 0"),
        ({"block": (1, 1, 128)}, "at most 64 threads along z"),
        (
            {"block": (512, 1, 1), "registers": 168, "most_block_threads": 384},
            "with its 168 registers a thread takes at most 384 threads a block, not 512",
        ),
        (
            {"shared_bytes": 60000},
            "without being asked the device gives this kernel 49,152 bytes; call cudaFuncSetAttribute("
            "kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) before the launch, up to "
            "232,448 on this device",
        ),
        (
            {"shared_bytes": 230000, "static_bytes": 4096, "allowed_shared_bytes": 45056},
            "at most 232,448 bytes of shared memory, not 230,000 beside 4,096 static ones",
        ),
        (
            {"grid": (5000, 1, 1), "resident_blocks": 264},
            "all 5,000 blocks of a cooperative launch are resident at once, and 264 fit",
        ),
        (
            {"text": "no kernel image is available for execution on the device"},
            "no code for this GPU's architecture",
        ),
    ],
)
def test_the_reason_is_the_one_that_the_numbers_show(
    change: dict[str, object], reason: str
) -> None:
    assert reason in describe_failed_launch(replace(FACTS, **change))  # type: ignore[arg-type]


def test_shared_memory_that_was_asked_for_is_no_reason() -> None:
    allowed = replace(FACTS, shared_bytes=60000, allowed_shared_bytes=65536)
    assert describe_failed_launch(allowed).endswith("shared memory: invalid argument")


def test_where_the_device_cannot_be_asked_no_reason_is_made_up() -> None:
    bare = FailedLaunch(
        kernel="k", text="out of memory", grid=(1, 1, 1), block=(1, 1, 1), shared_bytes=90000
    )
    assert describe_failed_launch(bare).endswith("dynamic shared memory: out of memory")


def test_an_error_that_shows_later_names_the_last_launch() -> None:
    said = describe_later_error("an illegal memory access was encountered", FACTS)
    assert said.startswith("an illegal memory access was encountered; found after the launch of ")
    assert "kernel scale<float> with grid (8,1,1)" in said
    assert "no kernel was launched" in describe_later_error("invalid argument", None)


def test_a_graph_is_called_a_graph() -> None:
    assert describe_failed_launch(replace(FACTS, kernel="CUDA graph")).startswith("CUDA graph was")
