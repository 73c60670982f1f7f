from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from cuda_gym.core.device import Device
from cuda_gym.core.verdict import Telemetry
from cuda_gym.judge.profiling.gpus import find_gpu
from cuda_gym.judge.profiling.nvml import (
    _parent_uuid,
    _read,
    _start,
    driver_version,
    energy_between,
    parent_uuid,
    read_gpu,
    why_no_nvml,
)
from cuda_gym.judge.profiling.telemetry import read_device


class NVMLError(Exception):
    """What a binding raises."""


class NVMLLibraryMismatchError(Exception):
    """What a binding that is newer than the library raises."""


def process(pid: int, num_bytes: int | None) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, usedGpuMemory=num_bytes)


def binding(**answers: Any) -> SimpleNamespace:
    """A binding whose functions give these answers; an exception is raised, `...` takes one away."""
    given: dict[str, Any] = {
        "nvmlInit": None,
        "nvmlShutdown": None,
        "nvmlDeviceGetHandleByUUID": "card",
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": NVMLError("no slice"),
        "nvmlDeviceGetUUID": "GPU-whole",
        "nvmlDeviceGetClockInfo": 1980,
        "nvmlDeviceGetMaxClockInfo": 2100,
        "nvmlDeviceGetTemperature": 42,
        "nvmlDeviceGetPowerUsage": 135_000,
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        "nvmlDeviceGetTotalEnergyConsumption": 5_000_000,
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=35),
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=2 << 30, total=140 << 30),
        "nvmlDeviceGetCurrentClocksEventReasons": 0,
        "nvmlDeviceGetComputeRunningProcesses": [process(10, 1 << 30), process(11, 3 << 20)],
        "nvmlDeviceGetComputeRunningProcesses_v2": NVMLError("function not found"),
        **answers,
    }

    def function(answer: Any) -> Any:
        def ask(*_: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return ask

    return SimpleNamespace(
        NVMLError=NVMLError,
        NVMLLibraryMismatchError=NVMLLibraryMismatchError,
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
        NVML_TEMPERATURE_GPU=0,
        nvmlClocksEventReasonSwPowerCap=4,
        nvmlClocksEventReasonHwThermalSlowdown=64,
        nvmlClocksEventReasonSwThermalSlowdown=32,
        **{name: function(answer) for name, answer in given.items() if answer is not ...},
    )


def read(own_pids: tuple[int, ...] = (), *, is_outside: bool = True, **answers: Any) -> Telemetry:
    return _read(binding(**answers), "GPU-1", own_pids, is_outside=is_outside)


def test_a_card_tells_all_of_its_state() -> None:
    assert read((10,)) == Telemetry(
        clock_mhz=1980.0,
        max_clock_mhz=2100.0,
        memory_clock_mhz=1980.0,
        max_memory_clock_mhz=2100.0,
        temperature_c=42.0,
        power_w=135.0,
        power_limit_w=700.0,
        energy_mj=5_000_000,
        load=0.35,
        memory_used_bytes=2 << 30,
        memory_total_bytes=140 << 30,
        num_other_processes=1,
        other_memory_bytes=3 << 20,
    )


FIELDS = {
    "nvmlDeviceGetClockInfo": ("clock_mhz", "memory_clock_mhz"),
    "nvmlDeviceGetMaxClockInfo": ("max_clock_mhz", "max_memory_clock_mhz"),
    "nvmlDeviceGetTemperature": ("temperature_c",),
    "nvmlDeviceGetPowerUsage": ("power_w",),
    "nvmlDeviceGetEnforcedPowerLimit": ("power_limit_w",),
    "nvmlDeviceGetTotalEnergyConsumption": ("energy_mj",),
    "nvmlDeviceGetUtilizationRates": ("load",),
    "nvmlDeviceGetMemoryInfo": ("memory_used_bytes", "memory_total_bytes"),
    "nvmlDeviceGetComputeRunningProcesses": ("num_other_processes", "other_memory_bytes"),
}


@pytest.mark.parametrize(
    "failure",
    [
        NVMLError("not supported"),
        NVMLError("insufficient permissions"),
        NVMLLibraryMismatchError("driver and library differ"),
        TypeError("bytes or string"),
        ...,
    ],
    ids=["refused", "forbidden", "mismatch", "argument", "missing"],
)
@pytest.mark.parametrize("question", FIELDS)
def test_what_a_card_does_not_tell_is_none_and_the_rest_is_told(
    question: str, failure: Any
) -> None:
    told = read(**{question: failure})
    unknown = {name for name, value in vars(told).items() if value is None}
    assert unknown == {*FIELDS[question], "throttled"}


def test_a_card_that_answers_nothing_has_an_empty_state() -> None:
    assert read(nvmlDeviceGetHandleByUUID=NVMLError("not found")) == Telemetry()


def test_why_clocks_are_low_is_told_in_words() -> None:
    assert read(nvmlDeviceGetCurrentClocksEventReasons=4 | 32 | 64).throttled == (
        "power limit, too hot"
    )
    older = read(
        nvmlDeviceGetCurrentClocksEventReasons=NVMLError("function not found"),
        nvmlDeviceGetCurrentClocksThrottleReasons=4,
    )
    assert older.throttled == "power limit"
    assert read().throttled is None


def test_a_binding_newer_than_the_driver_still_counts_processes() -> None:
    told = read(
        nvmlDeviceGetComputeRunningProcesses=NVMLLibraryMismatchError("versions"),
        nvmlDeviceGetComputeRunningProcesses_v2=[process(7, 5)],
    )
    assert (told.num_other_processes, told.other_memory_bytes) == (1, 5)


def test_memory_that_a_process_hides_is_unknown_and_the_process_is_counted() -> None:
    told = read(nvmlDeviceGetComputeRunningProcesses=[process(7, None), process(8, 5)])
    assert (told.num_other_processes, told.other_memory_bytes) == (2, None)


def test_in_a_container_processes_have_other_numbers_and_are_counted_from_below() -> None:
    assert read((1, 2), is_outside=False).num_other_processes == 0
    told = read((1,), is_outside=False)
    assert (told.num_other_processes, told.other_memory_bytes) == (1, None)


def test_a_slice_has_the_clocks_of_its_card_and_memory_of_its_own() -> None:
    told = []

    def memory(card: str) -> SimpleNamespace:
        told.append(card)
        return SimpleNamespace(used=1, total=2)

    nvml = binding(nvmlDeviceGetDeviceHandleFromMigDeviceHandle="whole")
    nvml.nvmlDeviceGetMemoryInfo = memory
    assert _read(nvml, "MIG-1", is_outside=True).clock_mhz == 1980.0
    assert told == ["card"]
    assert _parent_uuid(nvml, "MIG-1") == "GPU-whole"
    assert _parent_uuid(binding(nvmlDeviceGetUUID=b"GPU-bytes"), "GPU-1") is None


def test_an_older_binding_takes_a_name_as_bytes() -> None:
    def by_uuid(uuid: str | bytes) -> str:
        if isinstance(uuid, str):
            raise TypeError("bytes or integer address expected instead of str instance")
        return "card"

    nvml = binding()
    nvml.nvmlDeviceGetHandleByUUID = by_uuid
    assert _read(nvml, "GPU-1").temperature_c == 42.0


def test_a_library_that_does_not_start_is_told_with_its_remedy() -> None:
    why = _start(binding(nvmlInit=NVMLError("NVML Shared Library Not Found")))
    assert "NVML Shared Library Not Found" in why
    assert "driver" in why
    assert _start(binding()) == ""


def test_without_the_binding_there_is_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "pip install nvidia-ml-py" in why_no_nvml()
    assert read_gpu("GPU-1") == Telemetry()
    assert driver_version() is None
    assert parent_uuid("MIG-1") is None


def test_energy_of_two_readings_is_their_difference_where_both_are_known() -> None:
    later = Telemetry(energy_mj=900, power_w=90.0)
    assert energy_between(Telemetry(energy_mj=400), later) == Telemetry(energy_mj=500, power_w=90.0)
    assert energy_between(Telemetry(), later).energy_mj is None
    assert energy_between(Telemetry(energy_mj=1000), later).energy_mj is None


def test_what_kept_clocks_low_before_the_timed_calls_is_told_after_them() -> None:
    hot = Telemetry(throttled="too hot")
    assert energy_between(hot, Telemetry()).throttled == "too hot"
    assert energy_between(Telemetry(), hot).throttled == "too hot"


def test_a_card_that_is_not_there_has_nothing_to_tell() -> None:
    assert read_gpu("GPU-00000000-0000-0000-0000-000000000000") == Telemetry()
    assert read_device(Device.parse("cuda:63")) == Telemetry()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_a_real_card_tells_its_clock_and_temperature() -> None:
    device = Device.parse("cuda:0")
    told = read_gpu(find_gpu(device).uuid)
    assert why_no_nvml() == ""
    assert told.clock_mhz is not None
    assert 100 < told.clock_mhz < 5000
    assert told.temperature_c is not None
    assert 10 < told.temperature_c < 110
    assert told.memory_total_bytes is not None
    assert told.memory_total_bytes > 4 << 30
    assert read_device(device).max_clock_mhz == told.max_clock_mhz


def test_the_library_stays_open_between_readings_once_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted, is_open = [0, 0], 0
    fake = binding()

    def started() -> None:
        nonlocal is_open
        counted[0] += not is_open
        is_open += 1

    def ended() -> None:
        nonlocal is_open
        is_open -= 1
        counted[1] += not is_open

    fake.nvmlInit, fake.nvmlShutdown = started, ended
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    assert [read_gpu("GPU-whole").clock_mhz for _ in range(3)] == [1980] * 3
    assert counted == [1, 0]
