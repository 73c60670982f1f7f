"""Where and from which seed a task makes its tensors.

Covered: torch's own constructors, `.cuda()`, and whatever needs the host, such as numpy or a
generator made by hand: it is made there again and moved. Not covered: tensors that a module keeps
neither as parameter nor as buffer, where its constructor runs on the host only.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import torch

from cuda_gym.judge.verification.allocation import is_out_of_memory

__all__ = ["make_there", "named_device", "seeded"]

_Made = TypeVar("_Made")


def named_device(device: torch.device | str) -> torch.device:
    """A device with its number, since `cuda` alone means another one at another time.

    >>> named_device("cpu")
    device(type='cpu')
    """
    named = torch.device(device)
    if named.type == "cuda" and named.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return named


def make_there(make: Callable[[], _Made], seed: int, device: torch.device) -> _Made:
    """What `make` makes from a seed, with torch's constructors on a device.

    What mixes devices there, but runs where all is on the host, is made on the host.
    """
    if device.type == "cpu":
        with seeded(seed, device):
            return make()
    try:
        with seeded(seed, device), device:
            return make()
    except Exception as error:
        if is_out_of_memory(error):
            raise
    with seeded(seed, device):
        return make()


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed every generator that a task may draw from, and put all of them back afterwards."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    with contextlib.ExitStack() as stack:
        others = [device] if device.type == "cuda" else []
        if others:
            stack.enter_context(torch.cuda.device(device))  # where `.cuda()` goes to
        stack.enter_context(torch.random.fork_rng(devices=others, device_type="cuda"))
        torch.manual_seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)
