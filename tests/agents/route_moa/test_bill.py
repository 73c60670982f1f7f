import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from cuda_gym.agents.route_moa.bill import Bill, BillLine, line_of, router_line
from cuda_gym.agents.route_moa.roster import RouterPrice
from cuda_gym.models.model import Completion, Prices, Usage

RECORDED = Path(__file__).parents[4] / "shared/data/routing/routemoa_recorded.json.gz"


def line(model: str, billed_for: Any, prompt: int, completion: int, usd: float) -> BillLine:
    usage = Usage(prompt_tokens=prompt, completion_tokens=completion)
    return BillLine(model=model, billed_for=billed_for, usage=usage, cost_usd=usd)


BILL = Bill(
    lines=(
        router_line(RouterPrice(usd_per_cpu_hour=0.36), 0.01),
        line("large", "proposer", 1000, 200, 0.006),
        line("small", "proposer", 1000, 300, 0.0002),
        line("broken", "failed", 900, 0, 0.0001),
        line("large", "aggregator", 1500, 250, 0.00825),
    )
)


def test_every_call_is_in_the_sum_and_the_router_is_none() -> None:
    assert BILL.total.calls == 4
    assert BILL.by_model["router"].calls == 0
    assert BILL.as_plain()["calls"] == 4
    assert BILL.total.usage == Usage(prompt_tokens=4400, completion_tokens=750)
    assert BILL.cost_usd == pytest.approx(0.000001 + 0.006 + 0.0002 + 0.0001 + 0.00825, rel=1e-12)


def test_it_is_grouped_by_model_and_by_purpose() -> None:
    assert list(BILL.by_model) == ["router", "large", "small", "broken"]
    assert BILL.by_model["large"].usage == Usage(prompt_tokens=2500, completion_tokens=450)
    assert list(BILL.by_purpose) == ["router", "proposer", "failed", "aggregator"]
    assert BILL.by_purpose["failed"].cost_usd == 0.0001


def test_the_router_costs_seconds_and_no_tokens() -> None:
    routing = router_line(RouterPrice(usd_per_cpu_hour=3.6), 0.5)
    assert routing.cost_usd == pytest.approx(0.0005)
    assert routing.usage == Usage(prompt_tokens=0, completion_tokens=0)
    assert router_line(RouterPrice(), 0.5).cost_usd == 0.0


def test_a_completion_is_billed_as_its_model_says() -> None:
    usage = Usage(prompt_tokens=10, completion_tokens=5)
    completion = Completion(model="small", text="4", usage=usage, latency_s=1.0, cost_usd=0.25)
    assert line_of(completion, "judge") == line("small", "judge", 10, 5, 0.25)


def test_the_sum_is_the_same_in_every_order() -> None:
    backwards = Bill(lines=tuple(reversed(BILL.lines)))
    assert backwards.cost_usd == BILL.cost_usd
    tenths = Bill(lines=tuple(line("m", "proposer", 1, 1, 0.1) for _ in range(10)))
    assert tenths.cost_usd == 1.0


def test_bills_are_added_line_by_line() -> None:
    assert (Bill(lines=BILL.lines[:2]) + Bill(lines=BILL.lines[2:])) == BILL


def test_no_call_costs_nothing() -> None:
    assert Bill().cost_usd == 0.0
    assert Bill().as_plain()["by_model"] == {}


@pytest.mark.parametrize("usd", [-0.1, math.nan, math.inf])
def test_a_cost_that_cannot_be_is_no_line(usd: float) -> None:
    with pytest.raises(ValueError, match="cannot cost"):
        line("m", "proposer", 1, 1, usd)


def test_the_plain_form_is_json_with_every_line() -> None:
    plain = json.loads(json.dumps(BILL.as_plain()))
    assert plain["cost_usd"] == BILL.cost_usd
    assert plain["by_purpose"]["proposer"]["calls"] == 2
    assert [one["billed_for"] for one in plain["lines"]] == [one.billed_for for one in BILL.lines]
    assert sum(one["completion_tokens"] for one in plain["lines"]) == plain["completion_tokens"]


def test_the_table_has_a_row_for_each_model_and_purpose_and_all() -> None:
    rows = [row.split() for row in BILL.as_table().splitlines()]
    assert ["large", "2", "2,500", "450", "0.014250"] in rows
    assert ["proposer", "2", "2,000", "500", "0.006200"] in rows
    assert rows[-1] == ["all", "4", "4,400", "750", "0.014551"]


@pytest.mark.skipif(not RECORDED.exists(), reason="the recordings are not beside the repository")
def test_all_recorded_costs_follow_from_tokens_and_prices() -> None:
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    prices = {
        name: Prices(input_usd_per_million=usd["input"], output_usd_per_million=usd["output"])
        for name, usd in recorded["prices_usd_per_million_tokens"].items()
    }
    rows = [row for method in recorded["methods"].values() for row in method]
    assert len(rows) == 1350
    for row in rows:
        bill = Bill(
            lines=tuple(
                BillLine(
                    model=name,
                    billed_for="proposer",
                    usage=Usage(**tokens),
                    cost_usd=prices[name].cost_usd(Usage(**tokens)),
                )
                for name, tokens in row["token_usage"].items()
            )
        )
        # Recorded without rounding, summed in another order: the last bit differs, no more.
        assert math.isclose(bill.cost_usd, row["cost_usd"], rel_tol=1e-15), row["item_id"]
