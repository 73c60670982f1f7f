"""NVIDIA's Nsight Compute: how it is called, what it counted, and why it may not.

Covered: the tables of its versions since 2020, wide and long, whatever their units; a metric that one
version or device lacks is left out. Not covered: kernels of libraries, which have names that no
submission tells.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from cuda_gym.core.kernel_counters import KernelCounters
from cuda_gym.judge.profiling.counter_table import Launch, read_launches
from cuda_gym.judge.profiling.nvidia_tools import USUAL_FOLDERS, find_tool

__all__ = [
    "METRICS",
    "counters_command",
    "explain_refusal",
    "find_ncu",
    "read_counters",
    "unknown_metrics",
    "why_no_counters",
]

_STALLS = {
    "long_scoreboard": "global or local memory",
    "short_scoreboard": "shared memory or special functions",
    "barrier": "__syncthreads()",
    "math_pipe_throttle": "busy arithmetic units",
    "mio_throttle": "a full queue to shared memory and special functions",
    "lg_throttle": "a full queue to global memory",
    "wait": "the fixed time of the instruction before",
    "no_instruction": "instructions to be fetched",
    "imc_miss": "constants to be fetched",
    "branch_resolving": "branches",
    "membar": "memory fences",
    "drain": "its last stores",
}
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
_DURATION = "gpu__time_duration.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
_FIELDS = {
    "grid_blocks": "launch__grid_size",
    "block_threads": "launch__block_size",
    "num_multiprocessors": "launch__sm_count",
    "waves": "launch__waves_per_multiprocessor",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_bytes": "dram__bytes.sum",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "sm_percent": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "tensor_percent": "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "theoretical_occupancy_percent": "sm__maximum_warps_per_active_cycle_pct",
    "registers": "launch__registers_per_thread",
    "shared_bytes": "launch__shared_mem_per_block",
    "load_efficiency_percent": "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "store_efficiency_percent": "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "sectors_per_load": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "bank_conflicts": _CONFLICTS,
}
_WHOLE = ("grid_blocks", "block_threads", "num_multiprocessors", "registers", "shared_bytes")
_LIMITS = {
    "registers": "launch__occupancy_limit_registers",
    "shared memory": "launch__occupancy_limit_shared_mem",
    "block size": "launch__occupancy_limit_warps",
    "blocks": "launch__occupancy_limit_blocks",
}
METRICS = (
    _DURATION,
    *_FIELDS.values(),
    _WAVEFRONTS,
    *_LIMITS.values(),
    *(_STALL.format(reason) for reason in _STALLS),
)
"""What is asked for."""
_MOST_KERNELS = 8
_MOST_LAUNCHES = 64
_MOST_STALLS = 2
_LEAST_STALL = 0.1
_PARAMETERS = Path("/proc/driver/nvidia/params")
_RELEASE = Path("/proc/sys/kernel/osrelease")
AS_ADMIN = "CUDA_GYM_COUNTERS_AS_ADMIN"
"""Set to 1, it leaves a submission the rights of an administrator while its kernels are counted."""
_FOR_ADMINS = (
    "The driver gives performance counters to administrators only, and a submission runs without their "
    "rights. Load the module nvidia with NVreg_RestrictProfilingToAdminUsers=0; or set "
    f"{AS_ADMIN}=1 where nothing but trusted code is judged."
)
_REFUSALS = (
    ("ERR_NVGPUCTRPERM", _FOR_ADMINS),
    (
        "driver resource was unavailable",
        "Another tool holds the performance counters: a monitor such as DCGM, or a profiler. "
        "`dcgmi profile --pause` makes room.",
    ),
    (
        "No kernels were profiled",
        "Nsight Compute saw no kernel of the submission, or its version does not know this GPU or "
        "driver. Install the version that belongs to the driver.",
    ),
    (
        "not supported",
        "Nsight Compute does not support this GPU here (a MIG slice, a virtual GPU).",
    ),
)


def find_ncu(*, usual: tuple[Path, ...] = USUAL_FOLDERS) -> Path | None:
    """The program; None where there is none."""
    beside = ("nsight-compute*", "../nvidia/nsight-compute/*", "../../opt/nvidia/nsight-compute/*")
    return find_tool("ncu", beside=beside, usual=usual)


def counters_are_for_admins(parameters: Path = _PARAMETERS) -> bool:
    """Whether the driver says so."""
    try:
        said = parameters.read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r"RmProfilingAdminOnly: *1", said) is not None


def why_no_counters(
    *, usual: tuple[Path, ...] = USUAL_FOLDERS, parameters: Path = _PARAMETERS
) -> str:
    """What is known to stand in the way, and the remedy; empty where nothing is known to."""
    if find_ncu(usual=usual) is None:
        hint = " On WSL, allow counters in the NVIDIA control panel as well." if _is_wsl() else ""
        return (
            "There is no ncu, NVIDIA Nsight Compute. It comes with the CUDA toolkit: put its bin "
            f"folder on PATH, or set CUDA_HOME.{hint}"
        )
    if counters_are_for_admins(parameters) and os.environ.get(AS_ADMIN) != "1":
        return _FOR_ADMINS
    return ""


def counters_command(
    program: Path, log: Path, kernels: Iterable[str] = (), *, without: Iterable[str] = ()
) -> tuple[str, ...]:
    """The words to write before a command, so that its kernels are counted.

    Args:
        program: What `find_ncu` found.
        log: The file that it writes.
        kernels: Names of the kernels to count, as a `Build` has them; none is all.
        without: Metrics that this version does not know.
    """
    names = sorted({name.partition("<")[0].rpartition("::")[2] for name in kernels})
    is_plain = bool(names) and all(name.isidentifier() for name in names)
    only = ("--kernel-name", f"regex:^({'|'.join(names)})$") if is_plain else ()
    left_out = set(without)
    return (
        str(program),
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--clock-control",
        "none",
        "--log-file",
        str(log),
        "--target-processes",
        "application-only",
        "--launch-count",
        str(_MOST_LAUNCHES),
        "--kernel-name-base",
        "function",
        *only,
        "--metrics",
        ",".join(metric for metric in METRICS if metric not in left_out),
    )


def unknown_metrics(text: str) -> tuple[str, ...]:
    """The metrics that a log says nobody knows."""
    lines = [line for line in text.splitlines() if "Failed to find metric" in line]
    return tuple(metric for metric in METRICS if any(metric in line for line in lines))


def explain_refusal(text: str) -> str:
    """Why a log has no counters, and the remedy."""
    for sign, reason in _REFUSALS:
        if sign in text:
            return reason
    errors = [line for line in text.splitlines() if line.startswith("==ERROR==")]
    said = errors[0].removeprefix("==ERROR==").strip()[:200] if errors else "nothing"
    return f"Nsight Compute gave no counters; it said: {said.rstrip('.')}."


def read_counters(csv_text: str) -> tuple[KernelCounters, ...]:
    """What a table says, one entry a kernel: its longest launch, the kernel that took most first."""
    by_name: dict[str, list[Launch]] = {}
    for launch in read_launches(csv_text):
        if _DURATION in launch.metrics:
            by_name.setdefault(launch.kernel, []).append(launch)
    ranked = sorted(by_name.values(), key=lambda group: -sum(map(_duration_us, group)))
    return tuple(_counters(group) for group in ranked[:_MOST_KERNELS])


def _duration_us(launch: Launch) -> float:
    return launch.metrics[_DURATION] * 1e6


def _counters(group: list[Launch]) -> KernelCounters:
    longest = max(group, key=_duration_us)
    metrics = longest.metrics
    values: dict[str, float | int] = {
        field: round(metrics[name]) if field in _WHOLE else metrics[name]
        for field, name in _FIELDS.items()
        if name in metrics
    }
    wavefronts = metrics.get(_WAVEFRONTS, 0.0)
    conflicts = 100.0 * metrics.get(_CONFLICTS, 0.0) / wavefronts if wavefronts else None
    return KernelCounters(
        name=longest.kernel,
        launches=len(group),
        duration_us=_duration_us(longest),
        limited_by=_limited_by(metrics),
        bank_conflict_percent=conflicts,
        stalls=_stalls(metrics),
        **values,  # type: ignore[arg-type]
    )


def _limited_by(metrics: dict[str, float]) -> str | None:
    """The smallest of the limits; None where the occupancy is full or nothing is known."""
    known = {what: metrics[name] for what, name in _LIMITS.items() if name in metrics}
    if not known or metrics.get(_FIELDS["theoretical_occupancy_percent"], 0.0) >= 99.0:
        return None
    return min(known, key=lambda what: known[what])


def _stalls(metrics: dict[str, float]) -> tuple[tuple[str, float], ...]:
    waits = [
        (words, metrics[name])
        for reason, words in _STALLS.items()
        if (name := _STALL.format(reason)) in metrics and metrics[name] >= _LEAST_STALL
    ]
    return tuple(sorted(waits, key=lambda wait: -wait[1])[:_MOST_STALLS])


def _is_wsl() -> bool:
    try:
        return "microsoft" in _RELEASE.read_text(encoding="utf-8").lower()
    except OSError:
        return False
