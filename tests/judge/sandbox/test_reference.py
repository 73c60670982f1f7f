"""What a reference's process keeps of one thing that it is asked for until the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.judge.sandbox.reference_parts import LINEAR, settings_kept

from cuda_gym.judge.sandbox.reference import Reference

pytestmark = pytest.mark.filterwarnings("ignore:Please use the new API settings")


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[Reference]:
    """On `cpu`."""
    task = {"id": LINEAR.id, "title": LINEAR.title, "source": LINEAR.source, "library": []}
    given: dict[str, Any] = {
        "device": "cpu",
        "num_threads": 1,
        "folder": str(tmp_path),
        "own_kernels": "",
    }
    with settings_kept():
        reference = Reference()
        reference.open(task={**task, "allow_tf32": False}, **given)
        yield reference


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
