"""The judge's page has the figures of the code: who changes one changes the other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cuda_gym.judge.profiling.memory_budget import CONTENTS_BYTES, COPIES, contents_of_card
from cuda_gym.judge.profiling.timing_plan import (
    CPU_PLAN,
    GPU_PLAN,
    REMAPPING_CPU_PLAN,
    TimingPlan,
    without_counters,
)
from cuda_gym.judge.sandbox.deadlines import Deadlines

PAGE = (Path(__file__).parents[1] / "docs" / "judge.md").read_text("utf-8")
PROSE = " ".join(PAGE.split())
LARGE_CARD = 1 << 50


def cells(row: str) -> list[str]:
    """What stands in a row of a table, behind its name."""
    [found] = re.findall(rf"^\| {re.escape(row)} \|(.*)\|$", PAGE, re.M)
    return [cell.strip() for cell in found.split("|")]


def block(plan: TimingPlan) -> str:
    return f"at most {plan.max_calls} calls, about {plan.block_s * 1e3:.0f} ms"


def percent(share: float) -> str:
    return f"{100 * share:g} %"


CPU, GPU = CPU_PLAN, GPU_PLAN
RACE = {
    "a block": (block(CPU), block(GPU)),
    "first calls of a block that do not count": (str(CPU.dropped_calls), str(GPU.dropped_calls)),
    "inputs and outputs of a block, at most": (
        f"{CPU.max_content_bytes >> 20} MiB",
        f"{CONTENTS_BYTES / COPIES / 2**30:g} GiB, or a twelfth of the card, less two outputs",
    ),
    "pairs of blocks": (
        f"{CPU.min_pairs} to {CPU.max_pairs}",
        f"{GPU.min_pairs} to {GPU.max_pairs}; at least {GPU.min_calls} calls where time allows",
    ),
    "a race ends early when half of the interval is": (
        percent(CPU.wanted_halfwidth),
        f"{percent(GPU.wanted_halfwidth)}; {percent(GPU.brief_halfwidth)} below "
        f"{GPU.brief_us:g} us a call",
    ),
    "or after": (f"{CPU.max_race_s} s", f"{GPU.max_race_s} s"),
    "the judge's clock over the claim: let pass": (f"{CPU.credited}", f"{GPU.credited}"),
    "never looked at: a gap a call of": (
        f"{CPU.hidden_us:g} us",
        f"{GPU.hidden_us:g} us, and {GPU.audit_slack_us:g} us a block",
    ),
}


@pytest.mark.parametrize("row", RACE)
def test_the_table_of_races_tells_the_plans(row: str) -> None:
    assert cells(row) == list(RACE[row])


def test_the_page_tells_when_a_claim_is_refused() -> None:
    on_cpu, on_gpu = cells("refused")
    assert on_cpu.startswith(f"{CPU.refused:g} in each of at least five ")
    assert CPU.min_pairs // 2 == 5
    assert on_gpu.startswith(f"{GPU.refused:g} in ")


def test_a_small_card_gives_as_much_of_itself_as_the_page_says() -> None:
    card = 24 << 30
    assert contents_of_card(card) // COPIES == card // 12
    assert contents_of_card(LARGE_CARD) == CONTENTS_BYTES


def test_the_page_tells_the_shortest_calls_and_what_old_kernels_hide() -> None:
    assert f"shorter than {CPU.least_us:g} us on `cpu`, {GPU.least_us:g} us on a GPU" in PROSE
    assert f"a gap of {REMAPPING_CPU_PLAN.hidden_us:g} us a call is never looked at" in PROSE


def test_the_page_tells_the_timer_of_a_machine_that_counts_nobody_who_waits() -> None:
    assert f"the timer is `{without_counters(CPU).timer}`" in PROSE


def test_the_table_of_deadlines_tells_those_of_the_code() -> None:
    own = Deadlines()
    assert cells("build; of bindings")[0].startswith(f"{own.build_s:g}; ")
    loading = "import and construct the model; forbid torch's operators; take weights"
    assert cells(loading) == [f"{own.load_s:g} each"]
    assert cells("the calls of a draw; of a block") == [f"{own.run_s:g}; {3 * own.run_s:g}"]
    assert cells("one answer of a reference") == [f"{own.reference_s:g}"]
    [opening] = cells("opening a task and admitting it; compiling its reference")
    assert opening.startswith(f"{own.open_s:g} each")


def test_the_threat_model_has_a_row_for_every_family_of_exploits() -> None:
    page = (Path(__file__).parents[1] / "docs" / "threat_model.md").read_text("utf-8")
    tables = (Path(__file__).parent / "hacks").glob("*/*/exploit.toml")
    families = {tomllib.loads(table.read_text("utf-8"))["family"] for table in tables}
    named = {
        name for row in re.findall(r"^\| .*\|$", page, re.M) for name in re.findall(r'"(.+?)"', row)
    }
    assert families == named
