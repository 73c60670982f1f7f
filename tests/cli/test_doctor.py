"""One real kernel, built and run."""

from __future__ import annotations

import json

import pytest

from cuda_gym.cli.main import main


def test_it_says_what_works_and_proves_it_with_a_real_kernel(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    checks = {check["what"]: check for check in report["checks"]}
    assert {"python", "torch", "seccomp", "hidden memory", "lock of cpu"} <= set(checks)
    assert {check["state"] for check in checks.values()} <= {"ok", "missing", "degraded"}
    assert checks["a real kernel"]["state"] == "ok", checks["a real kernel"]["fact"]
    assert "hidden draws" in checks["a real kernel"]["fact"]
    assert report["can_play"] is True
    assert code == 0


def test_without_a_compiler_no_episode_can_be_played_and_the_remedy_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUDA_GYM_CXX", "no-such-compiler")
    assert main(["doctor"]) == 3
    said = capsys.readouterr().out
    assert "No episode can be played yet" in said
    assert "no-such-compiler" in said
    assert "-> Correct it, or unset it" in said
    assert "\x1b" not in said
