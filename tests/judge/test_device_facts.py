"""How a device is judged on follows from what its driver says; a scripted driver says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fake_driver import driver

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge import device_facts
from cuda_gym.judge.device_facts import DeviceFacts, facts_of
from cuda_gym.judge.profiling.telemetry import counts_waiting
from cuda_gym.judge.profiling.timing_plan import CPU_PLAN, GPU_PLAN, REMAPPING_CPU_PLAN


def facts(folder: Path, device: str = "cuda", **told: str) -> DeviceFacts:
    with driver(folder, **told):
        return facts_of(Device.parse(device))


def test_contents_of_a_block_leave_room_for_everybody_on_a_small_card(tmp_path: Path) -> None:
    small = facts(tmp_path, FAKE_NAME="NVIDIA GeForce RTX 4090", FAKE_MEMORY_GIB="24")
    assert small.plan.max_content_bytes == 2 << 30
    assert small.plan.timer == GPU_PLAN.timer
    large = facts(tmp_path, FAKE_MEMORY_GIB="1000")
    assert large.plan == GPU_PLAN


def test_a_gpu_that_cannot_export_memory_hands_over_by_copies_and_says_so(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings")
    assert facts(tmp_path).transport == "exported allocations"
    without = facts(tmp_path, FAKE_NAME="GRID T4-8Q", FAKE_EXPORT="0")
    assert without.transport == "copies through sealed memfd"
    asked_in_vain = facts(tmp_path, FAKE_EXPORT="-1")
    assert asked_in_vain.transport == without.transport


def test_a_driver_may_reserve_address_space_and_a_compiler_disturbs_nobody(tmp_path: Path) -> None:
    gpu = facts(tmp_path, FAKE_MEMORY_GIB="24")
    assert gpu.address_bytes > 4 * (24 << 30)
    assert not gpu.host_disturbs


def test_the_processor_is_disturbed_by_compilers() -> None:
    cpu = facts_of(Device.parse("cpu"))
    assert cpu.host_disturbs
    assert (cpu.plan, cpu.address_bytes) == (CPU_PLAN, 0)


def test_where_contents_are_mapped_anew_the_fingerprint_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = facts_of(Device.parse("cpu"))
    monkeypatch.setattr(device_facts, "seals_future_writes", lambda: False)
    other = facts_of(Device.parse("cpu"))
    assert other.plan == REMAPPING_CPU_PLAN
    assert other.transport != usual.transport


def test_where_nobody_counts_who_waits_for_a_core_the_timer_says_so(tmp_path: Path) -> None:
    counted, counter = tmp_path / "cpu", Path("/proc/pressure/cpu")
    counted.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=17\n")
    cpu = Device.parse("cpu")
    usual = facts_of(cpu, pressure=counted)
    assert (usual.plan.timer, usual.plan.counts_waiting) == ("wall", True)
    without = facts_of(cpu, pressure=tmp_path / "no such file")
    assert without.plan.timer == "wall, without pressure counters"
    assert not without.plan.counts_waiting
    assert facts_of(cpu).plan == (usual if counts_waiting(counter) else without).plan


def test_a_gpu_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingTool):
        facts(tmp_path, "cuda:7")
