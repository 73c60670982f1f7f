"""What this machine has for the device `cuda`, as rows of `doctor`.

Covered: driver, GPUs, torch's CUDA, nvcc, NVRTC, and what each lets a judge do better; which of them
fit each other. Nothing here starts torch or a kernel. Not covered: whether torch was built for the
architecture of a GPU; the real kernel at the end shows that.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Callable, Iterator

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.profiling.counters import why_no_counters
from cuda_gym.judge.profiling.gpus import Gpu, list_gpus, why_no_gpu
from cuda_gym.judge.profiling.nvml import why_no_nvml
from cuda_gym.judge.profiling.torch_build import torch_cuda
from cuda_gym.judge.sandbox.probes import Check, CheckState
from cuda_gym.judge.toolchains.nvrtc_pool import nvrtc_version
from cuda_gym.judge.toolchains.registry import resolve_device
from cuda_gym.judge.toolchains.sanitizer import why_no_sanitizer
from cuda_gym.judge.toolchains.toolkit import find_nvcc

__all__ = ["gpu_checks"]

_ON_CPU = "; not needed for the device `cpu`"
_RELEASE = re.compile(r"(\d+)\.(\d+)")


def gpu_checks(device: Device) -> Iterator[Check]:
    """A row for each; needed only where episodes would be played on a GPU.

    Args:
        device: The one that episodes would be played on.
    """
    gpus = list_gpus()
    is_needed = device.kind == "cuda"
    yield _driver(gpus, is_needed=is_needed)
    for gpu in gpus:
        yield _gpu(gpu, is_needed=is_needed and gpu.index == device.index)
    if is_needed and gpus and device.index >= len(gpus):
        yield _missing(
            str(device),
            f"there is none; the last GPU here is cuda:{len(gpus) - 1}",
            "Use that, or unset CUDA_VISIBLE_DEVICES.",
            is_needed=True,
        )
    chosen = next((gpu for gpu in gpus if gpu.index == device.index), None)
    yield _torch(chosen, is_needed=is_needed)
    yield _nvcc(chosen, is_needed=is_needed)
    if gpus or is_needed:
        yield _nvrtc()
        yield _told("NVML", why_no_nvml, "clocks, temperature, power and other processes are told")
        if chosen is not None:
            yield _memory_export(chosen)
        yield _told("Nsight Compute", why_no_counters, 'profile(detail="counters") uses it')
        yield _told("compute-sanitizer", why_no_sanitizer, 'verify(check="memory") uses it')
    if gpus and resolve_device("auto").kind == "cpu":
        yield Check(
            what="device `auto`",
            state=CheckState.DEGRADED,
            fact="means `cpu` here, although there is a GPU",
            remedy="Follow what is said of torch and of nvcc.",
        )


def _ok(what: str, fact: str, *, is_needed: bool = False) -> Check:
    return Check(what=what, state=CheckState.OK, fact=fact, is_needed=is_needed)


def _missing(what: str, fact: str, remedy: str, *, is_needed: bool = False) -> Check:
    return Check(what=what, state=CheckState.MISSING, fact=fact, remedy=remedy, is_needed=is_needed)


def _split(what: str, message: str, *, is_needed: bool = False) -> Check:
    """A message of an error, its first sentence being the fact."""
    fact, _, remedy = message.partition(". ")
    return _missing(what, fact.removesuffix("."), remedy, is_needed=is_needed)


def _told(what: str, why_not: Callable[[], str], fact: str) -> Check:
    reason = why_not()
    return _split(what, reason) if reason else _ok(what, fact)


def _driver(gpus: tuple[Gpu, ...], *, is_needed: bool) -> Check:
    what = "NVIDIA driver"
    if gpus:
        major, minor = gpus[0].cuda_version
        fact = f"{gpus[0].driver}, runs CUDA up to {major}.{minor}"
        return _ok(what, fact, is_needed=is_needed)
    if is_needed:
        return _split(what, why_no_gpu(), is_needed=True)
    found = _split(what, why_no_gpu())
    return _missing(what, f"{found.fact}{_ON_CPU}", found.remedy)


def _gpu(gpu: Gpu, *, is_needed: bool) -> Check:
    what = f"cuda:{gpu.index}"
    cache = f", {gpu.l2_bytes / (1 << 20):.0f} MiB of L2" if gpu.l2_bytes else ""
    fact = (
        f"{gpu.name}, {gpu.architecture}, {gpu.memory_bytes / (1 << 30):.1f} GiB, "
        f"{gpu.num_multiprocessors} multiprocessors{cache}"
    )
    if not gpu.is_shared:
        return _missing(
            what,
            f"{fact}; it takes one process at a time, and a judge has several",
            "sudo nvidia-smi -c DEFAULT",
            is_needed=is_needed,
        )
    if gpu.is_mig:
        return Check(
            what=what,
            state=CheckState.DEGRADED,
            fact=f"{fact}; a slice of a card (MIG), whose other slices disturb times",
            remedy="Time while they are idle.",
        )
    return _ok(what, fact, is_needed=is_needed)


def _torch(gpu: Gpu | None, *, is_needed: bool) -> Check:
    what, build = "torch for CUDA", torch_cuda()
    if build is None:
        return _missing(
            what,
            f"the torch that is installed is not built for CUDA{'' if is_needed else _ON_CPU}",
            "Install a CUDA build of torch: pytorch.org tells the command.",
            is_needed=is_needed,
        )
    fact = f"built for CUDA {build[0]}.{build[1]}"
    if gpu is not None and gpu.cuda_version[0] < build[0]:
        return _missing(
            what,
            f"{fact}, and the driver runs CUDA up to {gpu.cuda_version[0]}.{gpu.cuda_version[1]}",
            f"Update the driver, or install a torch that is built for CUDA {gpu.cuda_version[0]}.",
            is_needed=is_needed,
        )
    return _ok(what, fact, is_needed=is_needed)


def _nvcc(gpu: Gpu | None, *, is_needed: bool) -> Check:
    what = "nvcc"
    try:
        compiler = find_nvcc()
    except MissingTool as error:
        return _split(what, str(error), is_needed=is_needed)
    path = compiler.command[0]
    fact = f"{compiler.version.removeprefix('nvcc ')} at {path}"
    release = _RELEASE.search(compiler.version)
    if gpu is None or release is None:
        return _ok(what, fact, is_needed=is_needed)
    if int(release[1]) > gpu.cuda_version[0]:
        return _missing(
            what,
            f"{fact}, and the driver runs CUDA up to {gpu.cuda_version[0]}.{gpu.cuda_version[1]}",
            f"Update the driver to one for CUDA {release[1]}, or install a toolkit of "
            f"CUDA {gpu.cuda_version[0]}; CUDA_GYM_NVCC may name its nvcc.",
            is_needed=is_needed,
        )
    built = _architectures(path)
    if built and gpu.architecture not in built:
        return _missing(
            what,
            f"{fact}; it builds for {built[0]} to {built[-1]}, not for {gpu.architecture}",
            _other_toolkit(gpu.architecture, built),
            is_needed=is_needed,
        )
    return _ok(what, f"{fact}, builds for {gpu.architecture}", is_needed=is_needed)


def _other_toolkit(architecture: str, built: list[str]) -> str:
    is_newer = int(architecture.removeprefix("sm_")) > int(built[0].removeprefix("sm_"))
    age = "a newer" if is_newer else "an older"
    return f"Install {age} toolkit, one that knows {architecture}; CUDA_GYM_NVCC may name its nvcc."


def _architectures(nvcc: str) -> list[str]:
    """What it can build for, as `sm_90`, the oldest first; none where it does not say."""
    try:
        done = subprocess.run(
            [nvcc, "--list-gpu-code"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    found = re.findall(r"^sm_(\d+)$", done.stdout, re.MULTILINE)
    return [f"sm_{number}" for number in sorted(map(int, found))]


def _nvrtc() -> Check:
    what = "NVRTC"
    try:
        major, minor = nvrtc_version()
    except MissingTool as error:
        return _split(what, str(error))
    return _ok(what, f"{major}.{minor}; kernels without launchers are built in a tenth of a second")


def _memory_export(gpu: Gpu) -> Check:
    """How tensors come from one process to another."""
    what = "memory export"
    slower = "tensors go through memory of the host, which is slower"
    if importlib.util.find_spec("cuda") is None or not importlib.util.find_spec("cuda.bindings"):
        return Check(
            what=what,
            state=CheckState.DEGRADED,
            fact=f"cuda-bindings is not installed; {slower}",
            remedy="pip install cuda-bindings",
        )
    if not gpu.exports_memory:
        return Check(
            what=what,
            state=CheckState.DEGRADED,
            fact=f"this GPU, or its driver, hands out no descriptors of memory; {slower}",
            remedy="On WSL nothing is to be done; elsewhere update the driver.",
        )
    return _ok(what, "tensors stay on the GPU on their way between processes")
