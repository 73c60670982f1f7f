"""Many programs side by side, and a test for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import pytest

Result = TypeVar("Result")


@contextmanager
def in_parallel(
    request: pytest.FixtureRequest, run: Callable[[str], Result]
) -> Iterator[Mapping[str, Future[Result]]]:
    """Run on all cores what the tests of a file ask for by their parameter `name`.

    In the order of the tests, so that none waits for a build that another one needs.
    """
    wanted = [
        str(item.callspec.params["name"])
        for item in request.session.items
        if item.path == request.path and isinstance(item, pytest.Function)
    ]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield {name: pool.submit(run, name) for name in wanted}
