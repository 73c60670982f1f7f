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

__all__ = ["generators_kept", "make_there", "named_device", "seeded"]

_Made = TypeVar("_Made")

_kept: list[torch.device] = []
"""Devices whose generators somebody puts back already."""


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
    with contextlib.ExitStack() as stack:
        if device.type == "cuda":
            stack.enter_context(torch.cuda.device(device))  # where `.cuda()` goes to
        if device not in _kept:
            stack.enter_context(_put_back(device))
        # As torch.manual_seed, which also queues a traceback for each kind of device that is not used.
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            torch.cuda.manual_seed_all(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        yield


@contextlib.contextmanager
def generators_kept(device: torch.device) -> Iterator[None]:
    """Put every generator that a task may draw from back afterwards, once for all that is seeded inside.

    To keep their states takes 0.1 ms, most of it NumPy's: for small draws, as long as the draws.
    """
    with _put_back(device):
        _kept.append(device)
        try:
            yield
        finally:
            _kept.remove(device)


@contextlib.contextmanager
def _put_back(device: torch.device) -> Iterator[None]:
    numpy_state, python_state = np.random.get_state(), random.getstate()
    others = [device] if device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices=others, device_type="cuda"):
            yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
