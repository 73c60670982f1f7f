"""What every way to compile for a GPU is told: for which architecture, and for which driver."""

from __future__ import annotations

from cuda_gym.judge.toolchains.build_cache import BuildCache

__all__ = ["GpuToolchain"]


class GpuToolchain:
    """Compiles for one GPU architecture.

    Args:
        architecture: As nvcc names it: `sm_90`, or `sm_90a` for all that this GPU can.
        cache: Where builds are kept; None is the user's.
        driver_cuda: The newest CUDA that the driver runs; None where nothing is to be run here.
    """

    def __init__(
        self,
        architecture: str,
        cache: BuildCache | None = None,
        *,
        driver_cuda: tuple[int, int] | None = None,
    ) -> None:
        self._architecture = architecture
        self._cache = cache or BuildCache()
        self._driver_cuda = driver_cuda
