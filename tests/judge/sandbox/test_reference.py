"""What a reference's process keeps of one thing that it is asked for until the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.judge.sandbox.reference_parts import LINEAR, settings_kept

from cuda_gym.judge.sandbox.messages import Tree
from cuda_gym.judge.sandbox.reference import Reference

pytestmark = pytest.mark.filterwarnings("ignore:Please use the new API settings")


def opened(folder: Path, source: str = LINEAR.source) -> tuple[Reference, Tree]:
    """One on `cpu`, and what it says of its task."""
    task = {"id": LINEAR.id, "title": LINEAR.title, "source": source, "library": []}
    reference = Reference()
    said, _ = reference.open(
        task={**task, "allow_tf32": False},
        device="cpu",
        num_threads=1,
        folder=str(folder),
        own_kernels="",
    )
    return reference, said


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[Reference]:
    """On `cpu`."""
    with settings_kept():
        yield opened(tmp_path)[0]


def test_a_rehearsal_that_has_nothing_to_find_out_leaves_the_draws_that_were_made_ahead(
    reference: Reference,
) -> None:
    plain, _ = reference.prepare(draws=[{"weights": 3, "kind": "signed", "seed": 5}])
    assert plain == {"prepared": 1}
    reference.rehearse(count=4, contents_bytes=1 << 20)
    assert reference._stock.take("signed", 5) is not None


def test_a_reference_that_rests_keeps_no_draw(reference: Reference) -> None:
    reference.prepare(draws=[{"weights": 3, "kind": "signed", "seed": 5}])
    reference.rest()
    assert reference._stock.take("signed", 5) is None


def test_a_draw_that_memory_did_not_bear_is_tried_again_at_the_next_opening(tmp_path: Path) -> None:
    """Somebody else may have held it, and a task is to be judged by all its draws for ever after."""
    crowd = tmp_path / "crowd"
    source = f"""
import os

import torch
from torch import nn

rows = 8


class Model(nn.Module):
    def forward(self, x):
        if len(x) > rows and os.path.exists({str(crowd)!r}):
            raise MemoryError
        return x * 2


def get_inputs():
    return [torch.rand(rows, 16)]


def get_init_inputs():
    return []
"""
    crowd.touch()
    with settings_kept():
        _, crowded = opened(tmp_path, source)
        crowd.unlink()
        _, alone = opened(tmp_path, source)
        crowd.touch()
        _, later = opened(tmp_path, source)
    assert crowded["free_dimensions"] == []
    assert alone["free_dimensions"] == ["rows"]
    assert set(crowded["draws"]) < set(alone["draws"])
    assert later == alone
