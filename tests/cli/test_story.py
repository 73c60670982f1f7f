from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.agents.scripted import ScriptedAgent
from cuda_gym.cli.screen import Screen
from cuda_gym.cli.story import Story
from cuda_gym.core.device import Device
from cuda_gym.core.episode import Action, Episode, Observation, Stage, Turn
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.tasks.registry import load_task

TASK = load_task("core/bias_gelu")
FIRST = Observation(text="", stage=Stage.START)


def script() -> list[Action]:
    agent = ScriptedAgent(TASK.id)
    agent.reset(FIRST)
    return [agent.act(FIRST) for _ in range(7)]


def turn_of(action: Action, text: str, *, stage: Stage = Stage.EDITED, reward: float = 0.0) -> Turn:
    return Turn(action=action, observation=Observation(text=text, stage=stage), reward=reward)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.fixture
def story() -> Story:
    return Story(Screen(), TASK, Device.parse("cpu"), max_turns=20)


def test_it_begins_with_the_idea_and_the_source_of_the_task(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.begin()
    said = told(capsys)
    assert "hidden inputs" in said
    assert "torch.compile" in said
    assert TASK.title in said
    assert "class Model(nn.Module):" in said


def test_each_turn_shows_the_words_the_code_and_the_call_of_the_agent(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, action in enumerate(script(), start=1):
        story.turn(number, action, None)
    said = told(capsys)
    assert "Turn 1 of 20: read_skill" in said
    assert "> read_skill(name='launchers')" in said
    assert "Each element is on its own" in said
    assert "__global__ void bias_gelu_kernel" in said
    assert "class ModelNew(nn.Module):" in said
    assert "+ const size_t i = (size_t)blockIdx.y * features + column;" in said
    assert "> submit()" in said


def test_each_answer_shows_diagnostics_stage_and_reward_without_advice_to_the_agent(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    action = script()[1]
    text = "kernels/a.cu:3:1: error: no\nNext: repair it.\n\nTurns left: 3."
    story.turn(2, action, turn_of(action, text, reward=0.25))
    said = told(capsys)
    assert "kernels/a.cu:3:1: error: no" in said
    assert "edited, reward +0.250" in said
    assert "Next:" not in said
    assert "Turns left" not in said


def test_a_long_lesson_is_cut_and_said_to_be(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    action = script()[0]
    story.turn(1, action, turn_of(action, "\n".join(f"line {i}" for i in range(50))))
    said = told(capsys)
    assert "line 7" in said
    assert "line 8" not in said
    assert "... and 42 more lines" in said


def test_it_ends_with_verdict_reward_files_and_what_to_do_next(
    story: Story, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "model_new.py").write_text("")
    (tmp_path / ".lock").write_text("")
    findings = Findings(outcome=Outcome.CORRECT, summary="Right on 8 hidden draws.")
    timing = Timing(
        time_us=1.0,
        compile_us=1.9,
        speedup=1.9,
        speedup_low=1.8,
        speedup_high=2.0,
        num_blocks=8,
        num_calls=80,
        timer="wall",
        eager_us=4.0,
    )
    verdict = Verdict(
        outcome=Outcome.CORRECT,
        task_id=TASK.id,
        submission="s",
        device="cpu",
        findings=findings,
        fingerprint=None,
        timing=timing,
    )
    action = script()[6]
    turns = (turn_of(action, "", stage=Stage.SETTLED, reward=1.9),)
    episode = Episode(
        task_id=TASK.id, device="cpu", agent="a", first=FIRST, turns=turns, verdict=verdict
    )
    story.end(episode, tmp_path)
    lines = capsys.readouterr().out.splitlines()
    said = " ".join(" ".join(lines).split())
    assert "Right on 8 hidden draws." in said
    assert "1.90x" in said
    assert "The episode paid 1.900" in said
    assert f"The files are kept in {tmp_path}" in said
    assert ".lock" not in said
    assert lines[-3] == "Next"
    assert f"cuda-gym judge {TASK.id} {tmp_path}" in lines[-2]
    assert "cuda-gym play" in lines[-1]


def test_a_void_episode_says_why(
    story: Story, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    episode = Episode(
        task_id=TASK.id,
        device="cpu",
        agent="a",
        first=FIRST,
        turns=(),
        verdict=None,
        void="There is no C++ compiler.",
    )
    story.end(episode, tmp_path)
    assert "There is no C++ compiler." in told(capsys)
