"""Every verb that takes a device says in one way what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fake_driver import driver

from cuda_gym.cli.devices import device_of, judge_of
from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.cli.main import main
from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool

VERBS = (
    ("play",),
    ("demo",),
    ("judge", "core/softmax", "."),
)


@pytest.mark.parametrize("verb", [*VERBS, ("tasks", "core"), ("doctor",)], ids=lambda verb: verb[0])
def test_what_is_no_device_is_a_usage_error(
    verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb, "--device", "gpu"]) == 2
    said = capsys.readouterr().err
    assert "There is no device 'gpu'. Devices are 'cpu', 'cuda:0', 'cuda:1', ... Or 'auto'." in said


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
@pytest.mark.parametrize(
    ("device", "facts", "told"),
    [
        ("cuda", {"FAKE_INIT": "803"}, "There is no cuda:0: the libcuda.so.1 that was found"),
        ("cuda:7", {"FAKE_COUNT": "1"}, "There is no cuda:7. What is visible here: cuda:0."),
    ],
)
def test_a_gpu_that_is_not_there_ends_a_verb_at_once_with_the_reason(
    verb: tuple[str, ...],
    device: str,
    facts: dict[str, str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with driver(tmp_path, **facts):
        assert main([*verb, "--device", device]) == 3
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "check"])
def test_programs_run_on_the_processor_alone_and_that_is_said(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "a.cu"
    program.write_text("int main() { return 0; }")
    assert main([verb, str(program), "--device", "cuda:0"]) == 2
    said = capsys.readouterr().err
    assert "runs on the device `cpu` alone" in said
    assert "nvcc" in said


def test_a_device_may_be_named_without_its_index() -> None:
    assert device_of("cuda") == Device("cuda", 0)
    with pytest.raises(UsageError, match="no device 'cuda:x'"):
        judge_of("cuda:x")


def test_auto_is_the_processor_where_no_gpu_can_be_driven(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_INIT="100"):
        assert device_of("auto") == Device("cpu")
        with pytest.raises(MissingTool):
            judge_of("cuda")
