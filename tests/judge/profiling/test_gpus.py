from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.fake_driver import build_driver, driver, environment

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.profiling import gpus
from cuda_gym.judge.profiling.driver_errors import explain_driver_error
from cuda_gym.judge.profiling.gpus import (
    Gpu,
    best_device,
    find_gpu,
    list_gpus,
    query_driver,
    read_gpus,
    why_no_gpu,
    why_not_best,
)
from cuda_gym.judge.profiling.telemetry import device_name

CUDA = Device.parse("cuda")


def test_a_gpu_is_known_by_what_the_driver_says(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_COUNT="2"):
        first, second = list_gpus()
        assert why_no_gpu() == ""
        assert find_gpu(Device.parse("cuda:1")) == second
        assert device_name(CUDA, num_threads=4).startswith("NVIDIA H200, sm_90, driver ")
    assert (first.name, first.capability, first.cuda_version) == ("NVIDIA H200", (9, 0), (13, 0))
    assert (first.memory_bytes, first.l2_bytes) == (140 << 30, 60 << 20)
    assert (first.num_multiprocessors, first.architecture) == (132, "sm_90")
    assert first.uuid == "GPU-cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcd00"
    assert first.lock_uuid == first.uuid
    assert second.uuid.endswith("01")
    assert first.exports_memory
    assert first.is_shared
    assert not first.is_mig
    assert first.peak_gb_per_s == pytest.approx(4917, abs=1)


def test_what_an_older_driver_does_not_know_is_left_out(tmp_path: Path) -> None:
    build_driver(tmp_path, is_old=True)
    answer = query_driver(
        {"LD_LIBRARY_PATH": str(tmp_path), "FAKE_EXPORT": "-1", "FAKE_MEMORY_KHZ": "0"}
    )
    (gpu,) = read_gpus(answer, driver="450.80", parent=lambda _: None)
    assert gpu.uuid.startswith("GPU-abab")
    assert not gpu.exports_memory
    assert gpu.peak_gb_per_s is None


def test_slices_of_a_card_share_its_lock(tmp_path: Path) -> None:
    answer = query_driver(
        environment(tmp_path, FAKE_COUNT="2", FAKE_NAME="NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    )
    first, second = read_gpus(answer, driver="580", parent=lambda _: "GPU-whole")
    assert first.is_mig
    assert first.uuid.startswith("MIG-")
    assert first.uuid != second.uuid
    assert first.lock_uuid == second.lock_uuid == "GPU-whole"
    without_nvml = read_gpus(answer, driver="580", parent=lambda _: None)
    assert {gpu.lock_uuid for gpu in without_nvml} == {"PCI-0000:3b:00.0"}


@pytest.mark.parametrize(
    ("status", "told", "remedy"),
    [
        (34, "stub", "LD_LIBRARY_PATH"),
        (100, "shows no GPU", "--gpus all"),
        (304, "operating system", "/dev/nvidia"),
        (802, "not ready", "fabricmanager"),
        (803, "different versions", "Reboot"),
        (804, "forward compatibility", "compat"),
        (999, "without a reason", "nvidia_uvm"),
        (77, "error 77", "nvidia-smi"),
    ],
)
def test_a_driver_that_fails_is_explained_with_the_remedy(
    tmp_path: Path, status: int, told: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with driver(tmp_path, FAKE_INIT=str(status)):
        assert list_gpus() == ()
        assert told in why_no_gpu()
        assert remedy in why_no_gpu()
        with pytest.raises(
            MissingTool, match=r"There is no cuda:0: \w.* Or use the device `cpu`\."
        ):
            find_gpu(CUDA)


def test_a_driver_without_a_gpu_is_explained(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_COUNT="0", CUDA_VISIBLE_DEVICES="7"):
        assert list_gpus() == ()
        assert "CUDA_VISIBLE_DEVICES='7' shows no GPU" in why_no_gpu()


def test_a_driver_that_takes_its_process_with_it_is_one_that_failed(tmp_path: Path) -> None:
    answer = query_driver(environment(tmp_path, FAKE_CRASH="1"))
    assert answer == {"error": ["cuInit", 999]}


def test_a_driver_that_does_not_answer_is_waited_for_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "_DEADLINE_S", 0.5)
    with driver(tmp_path, FAKE_HANG="1"):
        assert "does not answer" in why_no_gpu()


def test_without_a_driver_there_is_nothing_and_that_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("not a library")
    answer = query_driver({"LD_LIBRARY_PATH": str(tmp_path)})
    if "error" not in answer:
        pytest.skip("there is a driver behind the broken one")
    assert answer["error"] == ["dlopen", 0]
    assert "no NVIDIA driver" in explain_driver_error("dlopen", 0, {})


def test_an_index_beyond_the_last_gpu_names_those_that_are_there(tmp_path: Path) -> None:
    with (
        driver(tmp_path, FAKE_COUNT="2"),
        pytest.raises(MissingTool, match=r"no cuda:5\. What is visible here: cuda:0, cuda:1\."),
    ):
        find_gpu(Device.parse("cuda:5"))
    with pytest.raises(ValueError, match="cpu is no GPU"):
        find_gpu(Device("cpu"))


def test_the_best_device_is_a_gpu_that_torch_and_a_toolkit_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driver(tmp_path):
        monkeypatch.setattr(gpus, "torch_cuda", lambda: (13, 0))
        assert best_device(has_toolkit=lambda: True) == CUDA
        assert best_device(has_toolkit=lambda: False) == Device("cpu")
        assert "no CUDA toolkit" in why_not_best(lambda: False)
        monkeypatch.setattr(gpus, "torch_cuda", lambda: (14, 0))
        assert best_device() == Device("cpu")
        assert "newer than the driver" in why_not_best()
        monkeypatch.setattr(gpus, "torch_cuda", lambda: None)
        assert best_device() == Device("cpu")
        assert "not built for CUDA" in why_not_best()
    with driver(tmp_path, FAKE_INIT="100"):
        assert best_device() == Device("cpu")


def test_looking_for_gpus_leaves_no_driver_and_no_torch_in_this_process() -> None:
    program = (
        "import sys\n"
        "from cuda_gym.judge.profiling.gpus import list_gpus\n"
        "list_gpus()\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'libcuda' not in open('/proc/self/maps').read()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_torch_sees_the_same_gpus() -> None:
    found = list_gpus()
    assert len(found) == torch.cuda.device_count()
    for gpu in found:
        properties = torch.cuda.get_device_properties(gpu.index)
        assert gpu.name == properties.name
        assert gpu.capability == (properties.major, properties.minor)
        assert gpu.num_multiprocessors == properties.multi_processor_count
        assert gpu.l2_bytes == properties.L2_cache_size
        assert gpu.uuid.endswith(str(properties.uuid))
        assert gpu.driver != "unknown"
        assert gpu.cuda_version >= (11, 0)
    assert isinstance(find_gpu(CUDA), Gpu)
    assert best_device() == CUDA
