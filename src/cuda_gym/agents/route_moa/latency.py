"""How long a route takes: layers one after the other, calls of a layer side by side, queues at busy endpoints.

Covered: any order of calls that is known with their seconds, so that a mixture, a cascade and a classical
mixture of agents are timed by one rule; endpoints that take only so many calls at once; calls that start late
because they replace a failed one; the router's own time.
Not covered: an endpoint that answers more slowly the more it is asked at once, and the traffic of other clients.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuda_gym.agents.route_moa.roster import Roster, RosterEntry

__all__ = ["TimedCall", "layer_s", "route_s"]


@dataclass(frozen=True, kw_only=True)
class TimedCall:
    """A call and its seconds."""

    model: str
    latency_s: float
    """From the moment when the endpoint takes it up."""
    starts_s: float = 0.0
    """When it is sent, from the start of its layer: after the failed call that it replaces."""


def layer_s(calls: Sequence[TimedCall], roster: Roster) -> float:
    """Seconds until the last of these calls is answered.

    All go out side by side. An endpoint that takes `max_parallel` calls at once serves the others
    in the order in which they were sent; models with one `base_url` share it. No call takes no time.
    """
    by_endpoint: dict[str, list[TimedCall]] = {}
    for call in calls:
        by_endpoint.setdefault(_endpoint(roster[call.model]), []).append(call)
    return max((_served_s(queue, roster) for queue in by_endpoint.values()), default=0.0)


def route_s(
    layers: Iterable[Sequence[TimedCall]], roster: Roster, *, router_s: float = 0.0
) -> float:
    """Seconds of a whole route: the router, then every layer after the one before.

    An aggregator is a layer of one call, and a cascade is nothing but such layers.
    """
    return router_s + sum(layer_s(layer, roster) for layer in layers)


def _served_s(queue: Sequence[TimedCall], roster: Roster) -> float:
    limits = (roster[call.model].max_parallel for call in queue)
    places = min((limit for limit in limits if limit is not None), default=len(queue))
    if places >= len(queue):
        return max(call.starts_s + call.latency_s for call in queue)
    free_s = [0.0] * places
    end_s = 0.0
    for call in sorted(queue, key=lambda call: call.starts_s):
        done_s = max(heapq.heappop(free_s), call.starts_s) + call.latency_s
        heapq.heappush(free_s, done_s)
        end_s = max(end_s, done_s)
    return end_s


def _endpoint(entry: RosterEntry) -> str:
    return entry.base_url or f"of {entry.name}"
