"""One real kernel, built and run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.fake_driver import driver

from cuda_gym.cli.main import main


def test_it_says_what_works_and_proves_it_with_a_real_kernel(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["doctor", "--json", "--device", "cpu"])
    report = json.loads(capsys.readouterr().out)
    checks = {check["what"]: check for check in report["checks"]}
    walls = {"seccomp", "limits", "hidden memory", "closed code", "read outputs"}
    assert {"python", "torch", "lock of cpu", *walls} <= set(checks)
    assert {check["state"] for check in checks.values()} <= {"ok", "missing", "degraded"}
    assert checks["a real kernel"]["state"] == "ok", checks["a real kernel"]["fact"]
    assert "hidden draws" in checks["a real kernel"]["fact"]
    assert report["can_play"] is True
    assert report["device"] == "cpu"
    assert code == 0


def test_without_a_compiler_no_episode_can_be_played_and_the_remedy_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUDA_GYM_CXX", "no-such-compiler")
    assert main(["doctor", "--device", "cpu"]) == 3
    said = capsys.readouterr().out
    assert "No episode can be played on cpu yet. Missing: compiler for cpu" in said
    assert "no-such-compiler" in said
    assert "-> Correct it, or unset it" in said
    assert "\x1b" not in said


def test_a_device_that_is_not_here_is_tried_and_its_remedies_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with driver(tmp_path, FAKE_INIT="802"):
        code = main(["doctor", "--json", "--device", "cuda"])
    report = json.loads(capsys.readouterr().out)
    checks = {check["what"]: check for check in report["checks"]}
    assert (code, report["can_play"], report["device"]) == (3, False, "cuda:0")
    assert "fabric manager" in checks["NVIDIA driver"]["remedy"]
    assert checks["NVIDIA driver"]["is_needed"]
    assert "There is no cuda:0" in checks["a real kernel"]["fact"]
