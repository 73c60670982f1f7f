from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cuda_gym.core.episode import Action, Episode, Observation, Stage, Turn
from cuda_gym.core.findings import (
    Build,
    Diagnostic,
    DrawFindings,
    Findings,
    KernelResources,
    MemoryFinding,
    MemorySide,
    Mismatch,
    Outcome,
    Severity,
)
from cuda_gym.core.verdict import Fingerprint, Telemetry, Timing, Verdict
from cuda_gym.episode_record import append_episode, read_episodes


def verdict() -> Verdict:
    """One with something in every room."""
    side = MemorySide(does="reads", file="kernels/a.cu", line=3, thread=(1, 2, 3), block=(0, 0, 0))
    worst = Mismatch(index=(3, 7), got=float("inf"), expected=1.0, allowed=1e-6)
    findings = Findings(
        outcome=Outcome.CORRECT,
        summary="Right, µs and all.",
        build=Build(
            key="k",
            library="build/of/k.so",
            toolchain="g++ 12",
            build_s=0.4,
            cached=True,
            kernels=(KernelResources(name="scale", mode="loop"),),
        ),
        diagnostics=(Diagnostic(severity=Severity.WARNING, message="unused", line=2),),
        draws=(DrawFindings(name="spiky", description="x", passed=True, worst=worst),),
        memory=(MemoryFinding(kind="data race", text="`x`", kernel="scale", sides=(side,)),),
    )
    return Verdict(
        outcome=Outcome.CORRECT,
        task_id="core/softmax",
        submission="s",
        device="cpu",
        findings=findings,
        fingerprint=Fingerprint(
            judge="1",
            task="t",
            device="a processor, 2 threads",
            toolchain="g++ 12",
            torch="2",
            compile_mode="default",
            timer="wall",
            transport="memfd",
            isolation="none",
        ),
        timing=Timing(
            time_us=50.0,
            compile_us=100.0,
            speedup=2.0,
            speedup_low=1.9,
            speedup_high=2.1,
            num_blocks=8,
            num_calls=200,
            timer="wall",
            eager_us=120.0,
        ),
        telemetry=Telemetry(load=0.5),
        seed=7,
    )


def episode() -> Episode:
    said = Observation(
        text="Right.\n\u2028\x85\x0b and on", stage=Stage.TIMED, metrics={"speedup": 2.0}
    )
    turn = Turn(action=Action('{"name": "profile"}'), observation=said, reward=2.0)
    first = Observation(text="Task core/softmax", stage=Stage.START)
    return Episode(
        task_id="core/softmax",
        device="cpu",
        agent="scripted",
        first=first,
        turns=(turn, turn),
        verdict=verdict(),
    )


def test_an_episode_comes_back_as_it_was_but_for_the_folders_of_its_machine(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    played = replace(episode(), workspace="a/folder")
    append_episode(path, played)
    append_episode(path, replace(played, verdict=None, void="the machine failed"))
    first, second = read_episodes(path)
    assert played.verdict is not None
    assert played.verdict.findings.build is not None
    build = replace(played.verdict.findings.build, library="k.so")
    findings = replace(played.verdict.findings, build=build)
    assert first == replace(
        played, verdict=replace(played.verdict, findings=findings), workspace=None
    )
    assert (second.verdict, second.void, second.turns) == (None, "the machine failed", first.turns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no episode"),
        ("\n[]\n", "Line 2 of a.jsonl is no episode"),
        ("no json\n", "Line 1 of a.jsonl is no episode: the line: Invalid JSON"),
        (json.dumps({"task_id": "t"}), "is no episode: device: Field required"),
    ],
)
def test_what_is_no_record_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_episodes(path)


def test_bytes_that_are_no_text_are_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="is no record of episodes"):
        read_episodes(path)
