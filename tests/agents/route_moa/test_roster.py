import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, RouterPrice, Speed
from cuda_gym.errors import RosterError
from cuda_gym.models.model import Prices

POOLS = Path(__file__).parents[4] / "shared/data/routing/pools.json"

RIGHT = """\
# Prices of today.
[[model]]
name = "small"
input_usd_per_million = 0.1
output_usd_per_million = 0.2
first_token_s = 0.25
tokens_per_s = 120
context_tokens = 32_768
skills = ["maths", "code"]

[[model]]
name = "large"
input_usd_per_million = 3
output_usd_per_million = 15
first_token_s = 0.9
tokens_per_s = 60.0
context_tokens = 200000
base_url = "https://models.example/v1"
served_as = "large-2026-01"
api_key_variable = "LARGE_KEY"
max_parallel = 4

[router]
usd_per_cpu_hour = 0.04
"""


def entry(name: str = "small", **changes: Any) -> RosterEntry:
    right = RosterEntry(
        name=name,
        prices=Prices(input_usd_per_million=0.1, output_usd_per_million=0.2),
        speed=Speed(first_token_s=0.5, tokens_per_s=100.0),
        context_tokens=8192,
    )
    return replace(right, **changes)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Roster]:
    def read_text(text: str) -> Roster:
        file = tmp_path / "roster.toml"
        file.write_text(text, encoding="utf-8")
        return Roster.from_toml(file)

    return read_text


def test_a_file_gives_every_model_as_it_stands_there(read: Callable[[str], Roster]) -> None:
    roster = read(RIGHT)
    assert roster.names == ("small", "large")
    assert roster["large"] == RosterEntry(
        name="large",
        prices=Prices(input_usd_per_million=3, output_usd_per_million=15),
        speed=Speed(first_token_s=0.9, tokens_per_s=60.0),
        context_tokens=200000,
        base_url="https://models.example/v1",
        served_as="large-2026-01",
        api_key_variable="LARGE_KEY",
        max_parallel=4,
    )
    assert roster["small"].skills == ("maths", "code")
    assert roster.router.usd_per_cpu_hour == 0.04


def test_what_is_written_is_read_as_the_same_roster(read: Callable[[str], Roster]) -> None:
    odd = 'a "name"\n with = [[model]] \\ \x7f and ü'
    roster = Roster(
        (
            entry(odd, billing="assumed", skills=("a,b", "'")),
            entry("tiny", prices=Prices(input_usd_per_million=1e-7, output_usd_per_million=1e17)),
        ),
        router=RouterPrice(usd_per_cpu_hour=0.5),
    ).with_measured("tiny", 3.0, 100)
    again = read(roster.to_toml())
    assert tuple(again) == tuple(roster)
    assert again.router == roster.router
    assert again["tiny"].speed.measured_calls == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("tokens_per_s = 120", "token_per_s = 120", 7, "Did you mean 'tokens_per_s'"),
        ("tokens_per_s = 120", "tokens_per_s = 0", 7, "small"),
        ("tokens_per_s = 120", "tokens_per_s = true", 7, "of type bool"),
        ("= 15\n", f"= {'1' * 400}\n", 14, "a number, not '111"),
        ("= 0.1\n", "= 0\n", 4, "a price is a finite number above 0"),
        ("= 0.1\n", "= nan\n", 4, "a price is a finite number above 0"),
        ("= 15\n", "= -15\n", 14, "divide what its machine costs"),
        ("context_tokens = 200000", "context_tokens = 0", 17, "context_tokens 0"),
        ("context_tokens = 200000", "context_tokens = 2e5", 17, "a whole number"),
        ('name = "large"', 'name = "small"', 12, "two models have the name 'small'"),
        ('name = "large"', 'name = " "', 12, "which is no name"),
        ('name = "large"\n', "", 11, "a model needs name too"),
        ("max_parallel = 4", "max_parallel = 0", 21, "max_parallel 0"),
        ('"https://', '"ftp://', 18, "http"),
        ("usd_per_cpu_hour = 0.04", "usd_per_cpu_hour = -1", 24, "usd_per_cpu_hour -1"),
        ('["maths", "code"]', '["maths", 3]', 9, "a list of texts"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(
    read: Callable[[str], Roster], old: str, new: str, line: int, says: str
) -> None:
    assert RIGHT.count(old) == 1
    with pytest.raises(RosterError) as caught:
        read(RIGHT.replace(old, new))
    assert f"roster.toml:{line}: " in str(caught.value)
    assert says in str(caught.value)


def test_what_is_no_toml_is_refused_with_the_line(read: Callable[[str], Roster]) -> None:
    with pytest.raises(RosterError, match=r"roster\.toml.*line 3"):
        read(RIGHT.replace('"small"', '"small'))
    with pytest.raises(RosterError, match="no TOML"):
        read(RIGHT.replace("= 15", "= " + "1" * 5000))


@pytest.mark.parametrize(
    ("text", "says", "remedy"),
    [
        ("", "no table [[model]] in 0 characters", "write one for each model, with name"),
        ("[router]\nusd_per_cpu_hour = 1", "no table [[model]]", "tokens_per_s"),
        ("model = []", "no table [[model]] in 10 characters", "write one for each model"),
        ("model = [3]", "'[3]' of type list", "under the header [[model]]"),
        ("[model]\nname = 'small'", "of type dict", "under the header [[model]]"),
        (RIGHT.replace("[[model]]", "[[models]]"), "unknown key 'models'", "Did you mean 'model'"),
        ("[[model]]", "a model needs name", 'name = "small"'),
        ("router = 3\n" + RIGHT[: RIGHT.index("[router]")], "'3' of type int", "[router]"),
        (RIGHT.replace("= 120", "= '120'"), "'120' of type str", "tokens_per_s = 0.5"),
        (RIGHT.replace('"large"', '""'), "has the name ''", "write one"),
        (RIGHT.replace("= 15\n", "= fifteen\n"), "no TOML", "texts in quotes"),
        (RIGHT.replace("Prices", "Preise \udcff"), "byte 9 is 0xff", "save it as UTF-8"),
    ],
)
def test_every_fault_of_a_file_is_told_with_the_file_and_the_remedy(
    tmp_path: Path, text: str, says: str, remedy: str
) -> None:
    file = tmp_path / "roster.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(RosterError) as caught:
        Roster.from_toml(file)
    told = str(caught.value)
    assert told.startswith(str(file))
    assert says in told
    assert remedy in told


def test_a_key_that_stands_in_the_file_is_not_told(read: Callable[[str], Roster]) -> None:
    with pytest.raises(RosterError, match="Did you mean 'api_key_variable'") as caught:
        read(RIGHT.replace('api_key_variable = "LARGE_KEY"', 'api_key = "sk-secret"'))
    assert "secret" not in str(caught.value)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    for path, fact in ((tmp_path / "nowhere.toml", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(RosterError, match=f"{path}.*{fact}.*give the path of a TOML file"):
            Roster.from_toml(path)


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ((), "needs one model or more"),
        ((entry(), entry("large"), entry()), "two models have the name 'small'"),
        ((entry(prices=Prices(input_usd_per_million=1, output_usd_per_million=math.inf)),), "inf"),
        ((entry(speed=Speed(first_token_s=-1.0, tokens_per_s=1.0)),), "first_token_s -1.0"),
        ((entry(speed=Speed(first_token_s=0.0, tokens_per_s=math.nan)),), "tokens_per_s nan"),
        ((entry(context_tokens=-5),), "context_tokens -5"),
    ],
)
def test_what_cannot_be_is_no_roster(entries: tuple[RosterEntry, ...], says: str) -> None:
    with pytest.raises(RosterError, match=says):
        Roster(entries)


def test_a_model_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(RosterError, match="Did you mean 'small'"):
        Roster((entry(),))["smal"]


def test_a_call_without_its_first_token_moves_both_figures_by_one_running_mean() -> None:
    roster = Roster((entry(),))  # expects 0.5 + 200 / 100 = 2.5 s
    for latency_s in (5.0, 7.5, 2.5):
        roster = roster.with_measured("small", latency_s, 200)
    speed = roster["small"].speed
    assert speed.measured_calls == 3
    assert speed.first_token_s == pytest.approx(0.5 * (1 + 2 + 3 + 1) / 4)
    assert speed.latency_s(200) == pytest.approx(2.5 * (1 + 2 + 3 + 1) / 4)


def test_a_call_with_its_first_token_moves_each_figure_by_its_own() -> None:
    roster = Roster((entry(),)).with_measured("small", 1.5 + 6.0, 200, first_token_s=1.5)
    assert roster["small"].speed.first_token_s == pytest.approx((0.5 + 1.5) / 2)
    assert 1 / roster["small"].speed.tokens_per_s == pytest.approx((0.01 + 0.03) / 2)


@pytest.mark.parametrize("latency_s", [-1.0, math.nan, math.inf])
def test_seconds_that_cannot_be_are_refused(latency_s: float) -> None:
    with pytest.raises(RosterError, match="cannot have answered"):
        Roster((entry(),)).with_measured("small", latency_s, 10)


@pytest.mark.parametrize(("latency_s", "tokens"), [(0.0, 100), (0.0, 0), (3.0, 0)])
def test_no_measurement_makes_a_speed_that_cannot_be(latency_s: float, tokens: int) -> None:
    instant = entry("instant", speed=Speed(first_token_s=0.0, tokens_per_s=100.0))
    roster = Roster((instant, entry()))
    for name in roster.names:
        for first_token_s in (None, 0.0):
            roster = roster.with_measured(name, latency_s, tokens, first_token_s=first_token_s)
    assert [one.speed.measured_calls for one in roster] == [2, 2]


@pytest.mark.skipif(not POOLS.exists(), reason="the recorded pools are not beside the repository")
def test_the_recorded_pools_are_rosters_whose_figures_are_assumed() -> None:
    roster = Roster.of_pools(POOLS, "zeroeval_28")
    assert len(roster) == 28
    assert {one.billing for one in roster} == {"assumed"}
    assert roster["gpt-4o-mini-2024-07-18"].prices.output_usd_per_million == 0.6
    assert tomllib.loads(roster.to_toml())["model"][0]["name"] == roster.names[0]


@pytest.mark.skipif(not POOLS.exists(), reason="the recorded pools are not beside the repository")
def test_a_pool_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(RosterError, match="Did you mean 'mmlu_pro_15'"):
        Roster.of_pools(POOLS, "mmlu_pro")
