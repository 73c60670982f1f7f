from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.models.openai_server import says, serve

from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.agents.route_moa.scorer import RidgeScorer
from cuda_gym.cli.main import main
from cuda_gym.models.model import Prices

ANSWER = json.dumps({"answer": "Paris", "self_score": 0.9})


def roster_of(folder: Path, *addresses: str) -> Path:
    file = folder / "roster.toml"
    entries = (
        RosterEntry(
            name=f"model-{number}",
            prices=Prices(input_usd_per_million=1.0 + number, output_usd_per_million=2.0),
            speed=Speed(first_token_s=0.1, tokens_per_s=100.0),
            context_tokens=8000,
            base_url=address,
        )
        for number, address in enumerate(addresses)
    )
    file.write_text(Roster(tuple(entries)).to_toml())
    return file


@contextmanager
def served(roster: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    typed = ("serve", "routemoa", "--roster", str(roster), "--port", "0", *options)
    with subprocess.Popen(
        [sys.executable, "-m", "cuda_gym", *typed],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(base_url: str, **options: Any) -> Any:
    with openai.OpenAI(base_url=base_url, api_key="any", max_retries=0, timeout=20) as client:
        return client.chat.completions.create(
            model="routemoa", messages=[{"role": "user", "content": "Capital?"}], **options
        )


def test_it_serves_a_roster_until_it_is_interrupted_also_while_it_answers(tmp_path: Path) -> None:
    def answer(request: Any) -> Any:
        is_late = request.last_message.find("Capital?") >= 0 and len(seen) > 2
        seen.append(request)
        return says(ANSWER, after_s=60.0 if is_late else 0.0)

    seen, errors = list[Any](), list[str]()

    def ask_in_vain() -> None:
        try:
            ask(base_url)
        except openai.APIError as error:
            errors.append(str(error))

    with (
        serve(answer) as (endpoint, _),
        served(roster_of(tmp_path, endpoint, endpoint), "--width", "2") as process,
    ):
        assert process.stdout is not None
        told = "".join(iter(process.stdout.readline, "\n")) + process.stdout.readline()
        assert "model-0" in told
        assert "$/M in" in told
        found = re.search(r"base_url (\S+), model routemoa", told)
        assert found
        base_url = found[1]
        got = ask(base_url)
        assert got.choices[0].message.content == "Paris"
        assert got.bill["by_purpose"]["proposer"]["calls"] == 2
        seen.append(None)
        asking = threading.Thread(target=ask_in_vain)
        asking.start()
        while len(seen) < 5:
            time.sleep(0.01)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        asking.join()
    assert time.monotonic() - began < 5.0
    assert process.returncode == 130
    assert "There is no --scorer: every model is believed in alike" in said
    assert "1 layer, " in said
    assert "Traceback" not in said
    assert "The server ends" in errors[0]


@pytest.mark.slow
def test_with_a_scorer_the_model_that_is_good_at_it_is_asked_though_it_is_dearer(
    tmp_path: Path,
) -> None:
    queries = [f"{word} {number}" for number in range(20) for word in ("Capital?", "Integral?")]
    labels = [[0.0, 1.0] if "Capital" in query else [1.0, 0.0] for query in queries]
    RidgeScorer.fit(queries, labels, ["model-0", "model-1"]).save(tmp_path)
    one_call = ("--width", "1", "--max-layers", "1", "--json", "--scorer", str(tmp_path))
    with (
        serve([says(ANSWER)]) as (endpoint, _),
        served(roster_of(tmp_path, endpoint, endpoint), *one_call) as process,
    ):
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while lines[-1] not in ("}\n", ""):
            lines.append(process.stdout.readline())
        document = json.loads("".join(lines))
        got = ask(document["base_url"])
        process.send_signal(signal.SIGTERM)
        rest, said = process.communicate(timeout=20)
    assert document["roster"][0]["name"] == "model-0"
    assert list(got.bill["by_model"]) == ["router", "model-1"]
    assert rest == ""
    assert "Interrupted" in said
    assert "--scorer" not in said
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--port", "65536"), "--port is from 0 to 65535; got 65536"),
        (("--width", "0"), "--width is at least 1; got 0"),
        (("--max-layers", "0"), "--max-layers is at least 1"),
        (("--usd", "0"), "--usd is a number above 0; got 0.0"),
        (("--seconds", "nan"), "--seconds is a number above 0; got nan"),
        (("--usd-weight", "-1"), "--usd-weight is a number from 0 on"),
        (("--api-key-variable", "NO_SUCH_KEY"), "there is no key in NO_SUCH_KEY"),
        (("--scorer", "no/such/folder"), "There is no scorer in no/such/folder"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_served(
    options: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roster = roster_of(tmp_path, "http://127.0.0.1:9/v1")
    assert main(["serve", "--roster", str(roster), *options]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_roster_that_cannot_be_used_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    assert main(["serve", "--roster", str(empty)]) == 2
    assert main(["serve", "--roster", str(tmp_path / "none.toml")]) == 2
    told = capsys.readouterr().err
    assert "a roster needs one model or more" in told
    assert "none.toml" in told


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("model-0", "model-1", "other"), None),
        (
            ("model-1", "other"),
            "The scorer knows 1 of the 2 models; the others count as average ones.",
        ),
        (("other",), "The scorer knows none of the 2 models"),
    ],
)
def test_models_that_a_scorer_was_not_trained_with_are_told(
    names: tuple[str, ...],
    told: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    queries = [f"question {number}" for number in range(20)]
    RidgeScorer.fit(queries, [[1.0] * len(names)] * 20, names).save(tmp_path)
    roster = roster_of(tmp_path, *["http://127.0.0.1:9/v1"] * 2)
    with socket.create_server(("127.0.0.1", 0)) as taken:  # it ends after what it says first
        port = str(taken.getsockname()[1])
        main(["serve", "--roster", str(roster), "--scorer", str(tmp_path), "--port", port])
    said = " ".join(capsys.readouterr().err.split())
    assert "Nothing can listen" in said
    assert "The scorer knows" not in said if told is None else told in said


def test_a_damaged_scorer_is_told_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roster = roster_of(tmp_path, "http://127.0.0.1:9/v1")
    (tmp_path / "scorer.json").write_text("{}")
    assert main(["serve", "--roster", str(roster), "--scorer", str(tmp_path)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"The scorer in {tmp_path} cannot be read".replace(" ", "") in told.replace(" ", "")


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roster = roster_of(tmp_path, "http://127.0.0.1:9/v1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--roster", str(roster), "--port", str(port)]) == 2
    assert f"Nothing can listen on port {port}" in capsys.readouterr().err
