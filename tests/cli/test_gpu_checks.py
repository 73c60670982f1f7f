from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.fake_driver import driver

from cuda_gym.cli import gpu_checks as module
from cuda_gym.cli.gpu_checks import gpu_checks
from cuda_gym.core.device import Device
from cuda_gym.judge.profiling import gpus
from cuda_gym.judge.sandbox.probes import Check, CheckState

CUDA = Device.parse("cuda:0")


def checks(device: str = "cuda:0") -> dict[str, Check]:
    return {check.what: check for check in gpu_checks(Device.parse(device))}


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An nvcc 13.0 that builds for sm_75 to sm_100."""
    path = tmp_path / "bin" / "nvcc"
    path.parent.mkdir()
    path.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        "--version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;\n"
        "--list-gpu-code) printf 'sm_75\\nsm_90\\nsm_100\\n' ;;\n"
        "esac\n"
    )
    path.chmod(0o755)
    monkeypatch.setenv("CUDA_GYM_NVCC", str(path))
    return path


def test_without_a_gpu_nothing_of_it_is_needed_on_cpu(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_INIT="100"):
        found = checks("cpu")
    assert not any(check.is_needed for check in found.values())
    assert found["NVIDIA driver"].state is CheckState.MISSING
    assert "not needed for the device `cpu`" in found["NVIDIA driver"].fact
    assert "memory export" not in found


def test_without_a_gpu_its_driver_is_what_cuda_needs_first(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_INIT="803"):
        row = checks()["NVIDIA driver"]
    assert row.is_needed
    assert row.state is CheckState.MISSING
    assert "Reboot" in row.remedy


@pytest.mark.usefixtures("nvcc")
def test_a_gpu_is_described_and_its_toolkit_fits(tmp_path: Path) -> None:
    with driver(tmp_path):
        found = checks()
    assert found["NVIDIA driver"].fact.endswith("runs CUDA up to 13.0")
    assert found["cuda:0"].fact == (
        "NVIDIA H200, sm_90, 140.0 GiB, 132 multiprocessors, 60 MiB of L2"
    )
    assert found["cuda:0"].state is CheckState.OK
    assert found["nvcc"].fact.endswith("builds for sm_90")
    assert found["nvcc"].is_needed


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize(
    ("facts", "fact", "remedy"),
    [
        ({"FAKE_CUDA": "12040"}, "driver runs CUDA up to 12.4", "toolkit of CUDA 12"),
        (
            {"FAKE_CAPABILITY": "70"},
            "builds for sm_75 to sm_100, not for sm_70",
            "an older toolkit",
        ),
        ({"FAKE_CAPABILITY": "121"}, "not for sm_121", "a newer toolkit, one that knows sm_121"),
    ],
)
def test_a_toolkit_that_does_not_fit_has_its_remedy(
    tmp_path: Path, facts: dict[str, str], fact: str, remedy: str
) -> None:
    with driver(tmp_path, **facts):
        row = checks()["nvcc"]
    assert row.state is CheckState.MISSING
    assert fact in row.fact
    assert remedy in row.remedy


def test_without_a_toolkit_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_GYM_NVCC", str(tmp_path / "nvcc"))
    with driver(tmp_path):
        row = checks()["nvcc"]
    assert row.state is CheckState.MISSING
    assert row.remedy == "Correct it, or unset it to have one found."


@pytest.mark.parametrize(
    ("build", "fact"),
    [(None, "not built for CUDA"), ((14, 1), "built for CUDA 14.1, and the driver")],
)
def test_a_torch_that_cannot_drive_the_gpu_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: tuple[int, int] | None, fact: str
) -> None:
    monkeypatch.setattr(module, "torch_cuda", lambda: build)
    with driver(tmp_path):
        row = checks()["torch for CUDA"]
    assert row.state is CheckState.MISSING
    assert row.is_needed
    assert fact in row.fact
    assert "torch" in row.remedy


def test_a_slice_of_a_card_is_played_on_with_a_warning(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_NAME="NVIDIA A100-SXM4-40GB MIG 1g.5gb"):
        row = checks()["cuda:0"]
    assert row.state is CheckState.DEGRADED
    assert not row.is_needed
    assert "a slice of a card" in row.fact


def test_a_gpu_in_exclusive_mode_cannot_be_judged_on(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_COMPUTE_MODE="3"):
        row = checks()["cuda:0"]
    assert row.state is CheckState.MISSING
    assert row.remedy == "sudo nvidia-smi -c DEFAULT"


def test_an_index_beyond_the_last_gpu_is_a_row_of_its_own(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_COUNT="2"):
        row = checks("cuda:5")["cuda:5"]
    assert row.state is CheckState.MISSING
    assert row.is_needed
    assert "the last GPU here is cuda:1" in row.fact


def test_a_gpu_that_does_not_hand_out_memory_is_slower_and_usable(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_EXPORT="0"):
        row = checks()["memory export"]
    assert row.state is CheckState.DEGRADED
    assert not row.is_needed
    assert row.remedy


def test_a_gpu_that_auto_does_not_choose_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "torch_cuda", lambda: None)
    with driver(tmp_path):
        row = checks("cpu")["device `auto`"]
    assert row.fact == "means `cpu` here, although there is a GPU"
    assert not row.is_needed


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_on_a_machine_with_a_gpu_everything_that_is_needed_is_there() -> None:
    assert gpus.list_gpus()
    for row in checks().values():
        assert row.state is CheckState.OK or not row.is_needed, row
