"""The state of a GPU, from NVML. Any of it may be missing, on a given card or in a container: None.

Nothing here raises: without a driver, without the library, with one that is older than this binding or
than the driver, or with a card that answers nothing, there is just nothing to tell.

Covered: slices of a card (MIG), whose clocks are those of the card; WSL. Not covered: which processes
are ours where they have other numbers outside a container; then the others are counted from below.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from cuda_gym.core.verdict import Telemetry

__all__ = ["driver_version", "energy_between", "parent_uuid", "read_gpu", "why_no_nvml"]

_THROTTLES = {
    "SwPowerCap": "power limit",
    "HwSlowdown": "hardware slowdown",
    "HwThermalSlowdown": "too hot",
    "SwThermalSlowdown": "too hot",
    "HwPowerBrakeSlowdown": "power brake",
    "SyncBoost": "clocks tied to another GPU",
    "ApplicationsClocksSetting": "clocks set by an application",
}
"""What keeps a card below its clocks, by the end of NVML's names for it, in words."""

_INITIAL_PIDS = "pid:[4026531836]"
"""The namespace that the numbers of NVML belong to, by the number that Linux always gives it."""


_kept_open: list[Any] = []
"""NVML counts who has started it. To start it anew for each reading takes twice as long as the reading."""


@dataclass(frozen=True)
class _Session:
    """NVML, opened: a question that fails is answered with None."""

    nvml: Any

    def ask(self, question: str, *arguments: Any) -> Any:
        function = getattr(self.nvml, question, None)
        if function is None:
            return None
        try:
            return function(*arguments)
        except _failures(self.nvml):
            return None

    def number(self, name: str) -> int:
        """A constant of the binding; 0 where it is older."""
        value = getattr(self.nvml, name, 0)
        return value if isinstance(value, int) else int(getattr(value, "value", 0))


def read_gpu(uuid: str, *, own_pids: Collection[int] = ()) -> Telemetry:
    """Clocks, temperature, power, throttling, load, memory, and who else is there.

    Args:
        uuid: As the driver names it: `GPU-...`, or `MIG-...` for a slice.
        own_pids: Processes that are not counted as others.
    """
    with _opened() as nvml:
        if nvml is None:
            return Telemetry()
        if not any(kept is nvml for kept in _kept_open) and not _start(nvml):
            _kept_open.append(nvml)
        return _read(nvml, uuid, own_pids)


def energy_between(before: Telemetry, after: Telemetry) -> Telemetry:
    """The later reading, with the energy since the earlier one, and why clocks were low at either.

    >>> energy_between(Telemetry(energy_mj=100), Telemetry(energy_mj=350, power_w=90.0)).energy_mj
    250
    """
    first, last = before.energy_mj, after.energy_mj
    taken = None if first is None or last is None or last < first else last - first
    return replace(after, energy_mj=taken, throttled=after.throttled or before.throttled)


def driver_version() -> str | None:
    """As `580.95.05`."""
    with _opened() as nvml:
        return None if nvml is None else _text(_Session(nvml).ask("nvmlSystemGetDriverVersion"))


def parent_uuid(uuid: str) -> str | None:
    """The card that a slice belongs to."""
    with _opened() as nvml:
        return None if nvml is None else _parent_uuid(nvml, uuid)


def why_no_nvml() -> str:
    """Why there is no telemetry of GPUs, with the remedy; empty where there is."""
    nvml = _binding()
    if nvml is None:
        return "The package nvidia-ml-py is not installed. pip install nvidia-ml-py"
    if why := _start(nvml):
        return why
    _end(nvml)
    return ""


def _binding() -> ModuleType | None:
    try:
        import pynvml
    except ImportError:
        return None
    binding: ModuleType = pynvml
    return binding


@contextlib.contextmanager
def _opened() -> Iterator[Any]:
    nvml: Any = _binding()
    if nvml is None or _start(nvml):
        yield None
        return
    try:
        yield nvml
    finally:
        _end(nvml)


def _start(nvml: Any) -> str:
    """Why it cannot be started, with the remedy; empty where it has been."""
    try:
        nvml.nvmlInit()
    except _failures(nvml) as error:
        return (
            f"NVML does not start: {error}. It comes with NVIDIA's driver; a container needs the "
            "driver's capability `utility`."
        )
    return ""


def _end(nvml: Any) -> None:
    with contextlib.suppress(*_failures(nvml)):
        nvml.nvmlShutdown()


def _failures(nvml: Any) -> tuple[type[BaseException], ...]:
    """What a binding raises: for a refusal, a function of a newer library, an argument of another age."""
    own = (nvml.NVMLError, getattr(nvml, "NVMLLibraryMismatchError", nvml.NVMLError))
    return (*own, AttributeError, TypeError, ValueError, OSError, ctypes.ArgumentError)


def _read(
    nvml: Any, uuid: str, own_pids: Collection[int] = (), is_outside: bool | None = None
) -> Telemetry:
    session = _Session(nvml)
    ask = session.ask
    card = _handle(session, uuid)
    if card is None:
        return Telemetry()
    parent = ask("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", card)
    whole = card if parent is None else parent  # a slice has no clocks of its own
    cores, memory = session.number("NVML_CLOCK_SM"), session.number("NVML_CLOCK_MEM")
    held = ask("nvmlDeviceGetMemoryInfo", card)
    used = ask("nvmlDeviceGetUtilizationRates", whole)
    outside = _is_outside() if is_outside is None else is_outside
    others, their_bytes = _others(session, whole, card, own_pids, is_outside=outside)
    return Telemetry(
        clock_mhz=_number(ask("nvmlDeviceGetClockInfo", whole, cores)),
        max_clock_mhz=_number(ask("nvmlDeviceGetMaxClockInfo", whole, cores)),
        memory_clock_mhz=_number(ask("nvmlDeviceGetClockInfo", whole, memory)),
        max_memory_clock_mhz=_number(ask("nvmlDeviceGetMaxClockInfo", whole, memory)),
        temperature_c=_number(
            ask("nvmlDeviceGetTemperature", whole, session.number("NVML_TEMPERATURE_GPU"))
        ),
        power_w=_number(ask("nvmlDeviceGetPowerUsage", whole), per=1000),
        power_limit_w=_number(ask("nvmlDeviceGetEnforcedPowerLimit", whole), per=1000),
        energy_mj=_whole(ask("nvmlDeviceGetTotalEnergyConsumption", whole)),
        throttled=_throttled(session, whole),
        load=_number(getattr(used, "gpu", None), per=100),
        memory_used_bytes=_whole(getattr(held, "used", None)),
        memory_total_bytes=_whole(getattr(held, "total", None)),
        num_other_processes=others,
        other_memory_bytes=their_bytes,
    )


def _handle(session: _Session, uuid: str) -> Any:
    """Older bindings take bytes, newer ones a string."""
    card = session.ask("nvmlDeviceGetHandleByUUID", uuid)
    return session.ask("nvmlDeviceGetHandleByUUID", uuid.encode()) if card is None else card


def _parent_uuid(nvml: Any, uuid: str) -> str | None:
    session = _Session(nvml)
    card = _handle(session, uuid)
    parent = session.ask("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", card)
    return (
        None if card is None or parent is None else _text(session.ask("nvmlDeviceGetUUID", parent))
    )


def _throttled(session: _Session, card: Any) -> str | None:
    reasons = session.ask("nvmlDeviceGetCurrentClocksEventReasons", card)
    if reasons is None:  # its name until the driver 535
        reasons = session.ask("nvmlDeviceGetCurrentClocksThrottleReasons", card)
    if not isinstance(reasons, int):
        return None
    told = [
        words
        for name, words in _THROTTLES.items()
        if reasons
        & (
            session.number(f"nvmlClocksEventReason{name}")
            or session.number(f"nvmlClocksThrottleReason{name}")
        )
    ]
    return ", ".join(dict.fromkeys(told)) or None


def _others(
    session: _Session, whole: Any, card: Any, own_pids: Collection[int], *, is_outside: bool
) -> tuple[int | None, int | None]:
    """Processes of others on the whole card, or on the slice where that is all one may see."""
    running = _running(session, whole)
    if running is None and whole is not card:
        running = _running(session, card)
    if running is None:
        return None, None
    if not is_outside:  # our own have other numbers there, so any of them may be ours
        count = max(0, len(running) - len(own_pids))
        return count, None if count else 0
    others = [process for process in running if process.pid not in own_pids]
    held = [_whole(getattr(process, "usedGpuMemory", None)) for process in others]
    known = [size for size in held if size is not None]
    return len(others), sum(known) if len(known) == len(held) else None


def _running(session: _Session, card: Any) -> list[Any] | None:
    """A driver that is older than the binding knows the second form of the question only."""
    for question in ("", "_v2"):
        running = session.ask(f"nvmlDeviceGetComputeRunningProcesses{question}", card)
        if isinstance(running, list):
            return running
    return None


def _is_outside() -> bool:
    """Whether processes have the numbers here that the driver knows them by."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == _INITIAL_PIDS
    except OSError:
        return False


def _number(value: object, *, per: int = 1) -> float | None:
    return value / per if isinstance(value, int | float) else None


def _whole(value: object) -> int | None:
    """A number; None for the largest one, by which NVML says that it does not know."""
    return value if isinstance(value, int) and value != 2**64 - 1 else None


def _text(value: object) -> str | None:
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    return text if isinstance(text, str) else None
