"""Why the driver names no GPU, in words, with the remedy. Pure.

Covered: the answers of `cuInit` that people meet. Not covered: the rest has its number.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["explain_driver_error"]

_REASONS: dict[int, tuple[str, str]] = {
    2: ("the GPU has no memory left", "End what runs on it; `nvidia-smi` lists that."),
    34: (
        "the libcuda.so.1 that was found is a toolkit's stub, made for linking",
        "Take its folder `stubs` out of LD_LIBRARY_PATH.",
    ),
    46: (
        "the GPU is busy or in exclusive mode",
        "End what runs on it, or `sudo nvidia-smi -c DEFAULT`.",
    ),
    100: (
        "the driver is there but shows no GPU",
        "In a container, start it with `--gpus all`; else `nvidia-smi` says what is wrong.",
    ),
    101: (
        "CUDA_VISIBLE_DEVICES names a GPU that is not there",
        "Correct it, or unset it; `nvidia-smi -L` lists what there is.",
    ),
    304: (
        "the driver was refused by the operating system",
        "Give this process the files /dev/nvidia*, and a /proc of its own process namespace.",
    ),
    802: (
        "the GPUs are not ready",
        "Start NVIDIA's fabric manager: `sudo systemctl start nvidia-fabricmanager`.",
    ),
    803: (
        "the libcuda.so.1 that was found and the kernel's module are of different versions",
        "Reboot after an update of the driver; a container needs the libraries of its host's driver.",
    ),
    804: (
        "a libcuda.so.1 for forward compatibility was found, which this GPU does not take",
        "Take the folder `compat` of the toolkit out of LD_LIBRARY_PATH, or update the driver.",
    ),
    805: (
        "the MPS server does not answer",
        "Start it with `nvidia-cuda-mps-control -d`, or unset CUDA_MPS_PIPE_DIRECTORY.",
    ),
    999: (
        "the driver failed without a reason",
        "Load its memory module with `sudo modprobe nvidia_uvm`, or reboot; it happens after a "
        "suspend, and in a container without /dev/nvidia-uvm.",
    ),
}


def explain_driver_error(call: str, status: int, environment: Mapping[str, str]) -> str:
    """Fact, value, remedy.

    Args:
        call: What failed: a function of the driver; `dlopen` where there is none, `wait` where it
            did not answer.
        status: What it returned.
        environment: Where `CUDA_VISIBLE_DEVICES` may stand.

    >>> explain_driver_error("cuInit", 802, {})
    "The GPUs are not ready (cuInit: error 802). Start NVIDIA's fabric manager: `sudo systemctl start nvidia-fabricmanager`."
    """
    if call == "dlopen":
        return (
            "There is no NVIDIA driver (libcuda.so.1 is not found). Install one, or, in a "
            "container, start it with `--gpus all`."
        )
    if call == "wait":
        return (
            "The NVIDIA driver does not answer. `nvidia-smi` and the kernel's log say why; reboot."
        )
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and status in (100, 101):
        return (
            f"CUDA_VISIBLE_DEVICES={visible!r} shows no GPU ({call}: error {status}). Correct it, "
            "or unset it; `nvidia-smi -L` lists what there is."
        )
    reason, remedy = _REASONS.get(
        status, ("the NVIDIA driver failed", "See whether `nvidia-smi` works; reboot.")
    )
    number = "not in this driver" if status == -1 else f"error {status}"
    return f"{reason[0].upper()}{reason[1:]} ({call}: {number}). {remedy}"
