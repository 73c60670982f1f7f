from collections.abc import Sequence

import pytest

from cuda_gym.agents.route_moa.latency import TimedCall, layer_s, route_s
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.models.model import Prices

ALONE = "http://127.0.0.1:1/v1"


def entry(
    name: str, *, base_url: str | None = None, max_parallel: int | None = None
) -> RosterEntry:
    return RosterEntry(
        name=name,
        prices=Prices(input_usd_per_million=1.0, output_usd_per_million=1.0),
        speed=Speed(first_token_s=0.5, tokens_per_s=50.0),
        context_tokens=8192,
        base_url=base_url,
        max_parallel=max_parallel,
    )


ROSTER = Roster(
    (
        entry("free"),
        entry("wide"),
        entry("pair", max_parallel=2),
        entry("local-a", base_url=ALONE, max_parallel=1),
        entry("local-b", base_url=ALONE),
    )
)


def calls(*pairs: tuple[str, float]) -> Sequence[TimedCall]:
    return [TimedCall(model=model, latency_s=latency_s) for model, latency_s in pairs]


@pytest.mark.parametrize(
    ("layer", "seconds"),
    [
        ((), 0.0),
        ((("free", 2.0), ("wide", 5.0), ("pair", 1.0)), 5.0),
        ((("free", 2.0), ("free", 2.0), ("free", 2.0)), 2.0),
        ((("pair", 2.0), ("pair", 2.0), ("pair", 2.0)), 4.0),
        ((("pair", 3.0), ("pair", 1.0), ("pair", 1.0)), 3.0),
        ((("local-a", 2.0), ("local-b", 3.0), ("free", 4.0)), 5.0),
    ],
)
def test_a_layer_takes_as_long_as_its_slowest_call_and_its_queues(
    layer: tuple[tuple[str, float], ...], seconds: float
) -> None:
    assert layer_s(calls(*layer), ROSTER) == seconds


def test_a_replacement_starts_when_the_other_has_failed() -> None:
    late = TimedCall(model="wide", latency_s=2.0, starts_s=10.0)
    assert layer_s([*calls(("free", 3.0)), late], ROSTER) == 12.0


def test_a_late_call_does_not_hold_up_those_before_it() -> None:
    late = TimedCall(model="local-a", latency_s=1.0, starts_s=10.0)
    assert layer_s([late, *calls(("local-b", 2.0))], ROSTER) == 11.0


def test_layers_follow_one_another_after_the_router() -> None:
    layers = [calls(("free", 2.0), ("wide", 5.0)), calls(("free", 3.0)), calls(("wide", 1.0))]
    assert route_s(layers, ROSTER, router_s=0.25) == 9.25


def test_a_cascade_takes_the_sum_of_its_calls() -> None:
    assert route_s([calls(("free", 2.0)), calls(("wide", 3.0))], ROSTER) == 5.0
