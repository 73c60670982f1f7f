"""What all connections to a served mixture share: limits, a key, and places for requests that are worked on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from cuda_gym.agents.route_moa.serving.request import ChatRequest, RequestError
from cuda_gym.agents.route_moa.serving.work import OpenMixture, Work

__all__ = ["Service", "ServingLimits"]


@dataclass(frozen=True, kw_only=True)
class ServingLimits:
    """What clients may ask of a server."""

    max_requests: int = 8
    """Worked on at once; one more is told to come back."""
    max_connections: int = 64
    """At once; one more is closed."""
    max_body_bytes: int = 4 << 20
    """Of one request."""
    idle_s: float = 60.0
    """How long a connection may say nothing, and how long its reader may read nothing."""


class Service:
    """What all connections share.

    Args:
        open_mixture: Makes the mixture for one request.
        model_names: Of the roster, to be told.
        limits: Of requests.
        api_key: What clients have to show; None lets everybody in who is on this machine.
        log: Takes a line for each answer.
    """

    def __init__(
        self,
        open_mixture: OpenMixture,
        *,
        model_names: tuple[str, ...] = (),
        limits: ServingLimits | None = None,
        api_key: str | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self.open_mixture = open_mixture
        self.model_names = model_names
        self.limits = limits or ServingLimits()
        self.api_key = api_key
        self.log: Callable[[str], None] = log or _say_nothing
        self.started = int(time.time())
        self.is_ending = threading.Event()
        self._places = threading.BoundedSemaphore(self.limits.max_requests)
        self._lock = threading.Lock()
        self._works: list[Work] = []

    def begin(self, request: ChatRequest) -> Work:
        """Start to work on a request.

        Raises:
            RequestError: there are too many already.
        """
        if not self._places.acquire(blocking=False):
            raise RequestError(
                f"{self.limits.max_requests} requests are worked on; this one may come again in a second.",
                status=HTTPStatus.TOO_MANY_REQUESTS,
                code="too_many_requests",
                headers={"Retry-After": "1"},
            )
        with self._lock:
            self._works = [work for work in self._works if not work.has_ended(0.0)]
            self._works.append(Work(self.open_mixture, request, on_end=self._places.release))
            return self._works[-1]

    def have_all_ended(self, patience_s: float) -> bool:
        """Whether within so long nothing is worked on any more; from then on nothing can begin."""
        end = time.monotonic() + patience_s
        left = (max(end - time.monotonic(), 0.0) for _ in range(self.limits.max_requests))
        if not all(self._places.acquire(timeout=left_s) for left_s in left):
            return False
        with self._lock:
            return all(work.has_ended(max(end - time.monotonic(), 0.0)) for work in self._works)


def _say_nothing(line: str) -> None:
    del line
