"""The state of a GPU, from NVML. Any of it may be missing, on a given card or in a container: None.

Nothing here raises: without a driver, without the library or with a card that answers nothing, there
is just nothing to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cuda_gym.core.verdict import Telemetry

__all__ = ["read_gpu"]

Value = TypeVar("Value")

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


def read_gpu(uuid: str) -> Telemetry:
    """Clock, temperature, power, throttling and load of a card.

    Args:
        uuid: As the driver names it: `GPU-...`, or `MIG-...` for a slice.
    """
    try:
        import pynvml
    except ImportError:
        return Telemetry()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return Telemetry()
    try:
        return _read(pynvml, uuid)
    finally:
        pynvml.nvmlShutdown()


def _read(nvml: Any, uuid: str) -> Telemetry:
    def ask(question: Callable[..., Value], *arguments: Any) -> Value | None:
        try:
            return question(*arguments)
        except nvml.NVMLError:
            return None

    card = ask(nvml.nvmlDeviceGetHandleByUUID, uuid)
    if card is None:
        return Telemetry()
    parent = ask(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, card)
    whole = card if parent is None else parent  # a MIG slice has no clocks of its own
    clock = ask(nvml.nvmlDeviceGetClockInfo, whole, nvml.NVML_CLOCK_SM)
    temperature = ask(nvml.nvmlDeviceGetTemperature, whole, nvml.NVML_TEMPERATURE_GPU)
    power = ask(nvml.nvmlDeviceGetPowerUsage, whole)
    used = ask(nvml.nvmlDeviceGetUtilizationRates, whole)
    reasons = ask(nvml.nvmlDeviceGetCurrentClocksEventReasons, whole)
    return Telemetry(
        clock_mhz=None if clock is None else float(clock),
        temperature_c=None if temperature is None else float(temperature),
        power_w=None if power is None else power / 1000.0,
        throttled=None if reasons is None else _in_words(nvml, reasons),
        load=None if used is None else used.gpu / 100.0,
    )


def _in_words(nvml: Any, reasons: int) -> str | None:
    told = [
        words
        for name, words in _THROTTLES.items()
        if reasons & getattr(nvml, f"nvmlClocksEventReason{name}", 0)
    ]
    return ", ".join(dict.fromkeys(told)) or None
