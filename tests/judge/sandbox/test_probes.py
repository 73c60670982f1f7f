from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.break_out import NAMESPACES
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.probes import (
    Check,
    CheckState,
    closed_code_check,
    limits_check,
    probe_device_lock,
    probe_pressure,
    probe_walls,
    read_outputs_check,
    seals_check,
)

CPU = Device.parse("cpu")
BEYOND = {
    resource.RLIMIT_AS: "a candidate takes more memory than its share",
    resource.RLIMIT_FSIZE: "a candidate writes files of more than 256 MiB",
    resource.RLIMIT_CORE: "a candidate that crashes leaves a core",
}
"""What can be done where nothing limits it."""


@pytest.fixture(scope="module")
def walls() -> dict[str, Check]:
    return {check.what: check for check in probe_walls()}


def test_every_wall_is_tried(walls: dict[str, Check]) -> None:
    expected = {f"namespace {name}" for name in NAMESPACES} | {
        "seccomp",
        "limits",
        "hidden memory",
    }
    assert set(walls) == expected


def test_a_wall_that_does_not_hold_has_its_reason_and_its_remedy(walls: dict[str, Check]) -> None:
    for check in walls.values():
        assert check.fact
        assert (check.state is CheckState.OK) == (check.remedy == "")
        assert "was not tried" not in check.fact
        assert not check.is_needed


def test_a_sibling_under_the_same_user_cannot_read_hidden_memory(walls: dict[str, Check]) -> None:
    assert walls["hidden memory"].state is CheckState.OK
    assert "refused" in walls["hidden memory"].fact


def test_what_fails_is_told_by_what_happened_and_not_by_what_was_asked_for() -> None:
    """The walls are attacked by a process that may not make any: none may be said to hold."""
    program = (
        "import ctypes, sys\n"
        "from cuda_gym.judge.sandbox import break_out, limits\n"
        "limits.enter_namespaces = limits.enclose = lambda *_, **__: NAMES\n"
        "limits.forbid_processes = limits.hide_memory = limits.limit_resources = lambda *_: NAMES\n"
        "sys.argv = sys.argv[:1]\n"
        "break_out.main()\n"
    ).replace("NAMES", repr(NAMESPACES))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    answers = json.loads(done.stdout)
    assert set(answers["walls"]) == {*NAMESPACES, "seccomp"}
    assert "holds" not in answers["walls"].values()
    assert answers["hidden"] == answers["open"]
    for limit, told in BEYOND.items():  # a container may limit this test itself
        is_free = resource.getrlimit(limit)[1] == resource.RLIM_INFINITY
        assert not is_free or told in answers["limits"]


def test_the_limits_of_a_candidate_hold_here(walls: dict[str, Check]) -> None:
    assert walls["limits"].state is CheckState.OK, walls["limits"].fact


def test_limits_that_do_not_hold_are_named_with_what_they_let_happen() -> None:
    check = limits_check("a candidate that crashes leaves a core")
    assert check.state is CheckState.DEGRADED
    assert check.fact.startswith("a candidate that crashes leaves a core. ")
    assert check.remedy
    assert not check.is_needed


def test_where_inputs_cannot_be_sealed_for_all_but_their_owner_the_price_is_told() -> None:
    assert seals_check(writes_again=True).state is CheckState.OK
    without = seals_check(writes_again=False)
    assert without.state is CheckState.DEGRADED
    assert "from 30 us a call on, not from 5" in without.fact
    assert "Linux 5.12" in without.remedy
    assert not without.is_needed


@pytest.mark.parametrize(
    ("holds", "lacks"),
    [
        (closed_code_check(closes_code=True), closed_code_check(closes_code=False)),
        (read_outputs_check(reads_outputs=True), read_outputs_check(reads_outputs=False)),
    ],
)
def test_what_a_first_submission_shows_to_be_missing_has_its_remedy_and_is_no_reason_to_stop(
    holds: Check, lacks: Check
) -> None:
    assert holds.state is CheckState.OK
    assert lacks.state is CheckState.DEGRADED
    assert "does not rank" in lacks.fact
    assert lacks.remedy
    assert not lacks.is_needed


def test_the_lock_is_free_until_somebody_holds_it(tmp_path: Path) -> None:
    assert probe_device_lock(CPU, tmp_path).state is CheckState.OK
    with DeviceLock(CPU, tmp_path).shared():
        held = probe_device_lock(CPU, tmp_path)
    assert held.state is CheckState.DEGRADED
    assert "in use" in held.fact
    assert probe_device_lock(CPU, tmp_path).state is CheckState.OK


def test_a_lock_that_cannot_be_made_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check = probe_device_lock(CPU, tmp_path / "file" / "locks")
    assert check.state is CheckState.DEGRADED


def test_pressure_counters_are_ok_exactly_where_the_kernel_has_them() -> None:
    try:
        Path("/proc/pressure/cpu").read_text()
        has_them = True
    except OSError:
        has_them = False
    assert (probe_pressure().state is CheckState.OK) == has_them


def test_without_pressure_counters_the_remedy_is_told(tmp_path: Path) -> None:
    check = probe_pressure(tmp_path / "cpu")
    assert check.state is CheckState.DEGRADED
    assert "the timer of a Verdict says so" in check.fact
    assert "psi=1" in check.remedy


def test_probing_needs_no_torch() -> None:
    program = "import sys, cuda_gym.judge.sandbox.probes; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
