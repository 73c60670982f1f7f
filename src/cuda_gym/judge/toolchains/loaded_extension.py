"""A submission's own Python modules as a candidate process sees them: import them, count launches.

A build is a folder with one shared library a module. Each is linked with the launch recorder, and has
one of its own.

Covered: several modules, whose launches are added up. Not covered: launches through the driver, and
those of torch's own operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

from cuda_gym.judge.toolchains.kernel_runtime import LaunchedKernel
from cuda_gym.judge.toolchains.launch_recorder import RecordedLibrary

__all__ = ["LoadedExtension"]


class LoadedExtension:
    """The modules of one build.

    torch has to be imported before: its libraries are what the modules are linked with.

    Args:
        path: The library of one module; those beside it belong to the same build.

    Raises:
        ImportError: a module cannot be loaded.
    """

    def __init__(self, path: str | Path) -> None:
        libraries = sorted(Path(path).parent.glob("*.so"))
        self.modules: Mapping[str, ModuleType] = {p.stem: _import(p.stem, p) for p in libraries}
        """By name: `cuda_extension`, or what `load_inline` calls them."""
        self.module = self.modules[Path(path).stem]
        """The first one."""
        self._recorders = [RecordedLibrary(library) for library in libraries]

    def num_launches(self) -> int:
        """Kernels launched by all modules so far; launches that were refused do not count."""
        return sum(recorder.num_launches() for recorder in self._recorders)

    def num_synchronisations(self) -> int:
        """Calls so far in which the host waited, or may have waited, for the device."""
        return sum(recorder.num_synchronisations() for recorder in self._recorders)

    def take_error(self) -> str | None:
        """What went wrong in the first launch that failed since the last call; None where none did."""
        errors = [recorder.take_error() for recorder in self._recorders]
        return next((error for error in errors if error is not None), None)

    def describe_fault(self, fault: str) -> str:
        """What the device says of a kernel that it has stopped, with the last launch before it."""
        launched = [r for r in self._recorders if r.num_launches()]
        return launched[0].describe_fault(fault) if len(launched) == 1 else fault

    def time_kernels(self, on: bool) -> None:
        """Forget the times of kernels, and take them from now on, or no longer."""
        for recorder in self._recorders:
            recorder.time_kernels(on)

    def launched_kernels(self) -> tuple[LaunchedKernel, ...]:
        """What was launched since `time_kernels`, module by module."""
        return tuple(
            kernel for recorder in self._recorders for kernel in recorder.launched_kernels()
        )


def _import(name: str, path: Path) -> ModuleType:
    loader = ExtensionFileLoader(name, str(path))
    module = module_from_spec(ModuleSpec(name, loader, origin=str(path)))
    loader.exec_module(module)
    return module
