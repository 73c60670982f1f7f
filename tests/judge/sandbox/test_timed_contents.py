"""The contents of a block take the place of what was handed out before, and hold on to nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from tests.judge.sandbox.reference_parts import Parts, put_together

from cuda_gym.errors import OutOfDeviceMemory
from cuda_gym.judge.sandbox.exchange import Answer
from cuda_gym.judge.verification.trial import Trial


def close(answer: Answer) -> None:
    """As whoever has sent it."""
    for descriptor in answer[1]:
        os.close(descriptor)


def race_after(kind: str, parts: Parts) -> int:
    """Make contents after a draw of some kind, let go of all; descriptors that are open then."""
    parts.exchange.hand_out_draw(kind, 1, repeats=1)
    close(parts.exchange.answer())
    close(parts.contents.contents(count=2, seed=2))
    parts.exchange.clear()
    parts.contents.let_go()
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def test_a_race_leaves_no_descriptor_behind_whatever_was_drawn_before(tmp_path: Path) -> None:
    parts = put_together(tmp_path)
    before = race_after("ordinary", parts)
    assert race_after("signed", parts) == before
    assert race_after("signed", parts) == before


def test_a_hidden_draw_lies_among_the_contents_at_its_number(tmp_path: Path) -> None:
    parts = put_together(tmp_path)
    hidden = {"number": 1, "kind": "signed", "seed": 7}
    close(parts.contents.contents(count=3, seed=2, hidden=hidden))
    inputs = [parts.exchange.handout.call(number)[0] for number in range(3)]
    assert torch.equal(inputs[1], parts.stock.make("signed", 7).draw.inputs[0])
    assert [bool((tensor < 0.0).any()) for tensor in inputs] == [False, True, False]


def test_a_hidden_draw_that_memory_does_not_bear_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(kind: str, seed: int) -> Trial:
        raise OutOfDeviceMemory(f"No memory for {kind}, {seed}.")

    parts = put_together(tmp_path)
    close(parts.contents.contents(count=2, seed=1))
    hidden = {"number": 1, "kind": "signed", "seed": 7}
    told = []
    for make in (parts.stock.make, fail):
        monkeypatch.setattr(parts.stock, "make", make)
        answer = parts.contents.contents(count=3, seed=2, hidden=hidden)
        close(answer)
        told.append(answer[0]["hides"])
    assert told == [True, False]
