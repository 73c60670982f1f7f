"""Bindings that a submission brings itself, as modules that Python imports.

    read      what is to be compiled: the published folder, or every load_inline of model_new.py
    compile   with torch's headers, for one architecture
    cache     by sources, flags, torch, Python's ABI, toolkit and architecture

Covered: both published formats unchanged. It needs no GPU. Not covered: loading a module
(`loaded_extension`); it is slow: torch's headers take ten times as long as a kernel.
"""

from __future__ import annotations

import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuda_gym.core.findings import Build, BuildForm, Diagnostic
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.build_cache import digest
from cuda_gym.judge.toolchains.builds import find_or_build, refusal
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.extension_compile import (
    CPP_FLAGS,
    CUDA_FLAGS,
    ExtensionTools,
    Said,
    compile_extension,
    host_compiler,
)
from cuda_gym.judge.toolchains.extension_symbols import undefined_functions
from cuda_gym.judge.toolchains.extension_units import (
    ExtensionSources,
    has_bindings,
    read_extensions,
)
from cuda_gym.judge.toolchains.gpu_toolchain import GpuToolchain
from cuda_gym.judge.toolchains.launch_recorder_build import recorder_objects, recorder_version
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.ptxas import read_resources
from cuda_gym.judge.toolchains.toolkit import find_nvcc
from cuda_gym.judge.toolchains.toolkit_facts import (
    require_architecture,
    require_driver,
    toolkit_release,
)
from cuda_gym.judge.toolchains.torch_files import TorchFiles, find_torch

__all__ = ["ExtensionToolchain"]

_LEAST_DEADLINE_S = 180.0
_MOST_AT_ONCE = 4
"""Modules; each unit of one takes up to 3 GiB."""
_TARGET = "module.so"
_VERSION = "1"
"""Raised where equal sources would come out otherwise."""


class ExtensionToolchain(GpuToolchain):
    """Compiles bindings for torch, and the kernels behind them."""

    @property
    def name(self) -> str:
        """The compiler, what it compiles for and against: `nvcc 13.0.88 (sm_90, torch 2.11.0)`."""
        return f"{find_nvcc().version} ({self._architecture}, torch {find_torch().version})"

    def accepts(self, submission: Submission) -> bool:
        """Whether a submission brings bindings of its own."""
        return has_bindings(submission)

    def build(self, submission: Submission, *, deadline_s: float = _LEAST_DEADLINE_S) -> Build:
        """Compile every module of a submission, or find them in the cache.

        Args:
            submission: Sources and nothing else.
            deadline_s: How long it may take; never less than three minutes, which torch's headers
                may need.

        Raises:
            CompileError: the compiler said no, or the sources of a load_inline cannot be found.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: no nvcc, no host compiler, no headers, or a toolkit that does not fit torch.
            StorageError: the cache cannot be written.
        """
        modules = read_extensions(submission)
        nvcc, torch = find_nvcc(), find_torch()
        require_driver(nvcc, self._driver_cuda)
        require_architecture(nvcc, self._architecture)
        _require_fit(nvcc, torch)
        key = self._key(modules, nvcc, torch)
        deadline_s = max(deadline_s, _LEAST_DEADLINE_S)
        build = find_or_build(
            self._cache,
            key,
            lambda: self._compile(modules, nvcc, torch, key, deadline_s),
            toolchain=self.name,
        )
        library = Path(build.library).parent / f"{modules[0].name}.so"
        return replace(build, library=str(library), form=BuildForm.EXTENSION)

    def _key(self, modules: tuple[ExtensionSources, ...], nvcc: Compiler, torch: TorchFiles) -> str:
        parts = [_VERSION, nvcc.identity, recorder_version(), self._architecture, torch.version]
        parts += [str(sysconfig.get_config_var("SOABI")), *CPP_FLAGS, *CUDA_FLAGS]
        for module in modules:
            parts += [module.name, *module.cpp_flags, "then", *module.cuda_flags, "then"]
            parts += [part for path in sorted(module.files) for part in (path, module.files[path])]
        return digest("extension", *parts)

    def _compile(
        self,
        modules: tuple[ExtensionSources, ...],
        nvcc: Compiler,
        torch: TorchFiles,
        key: str,
        deadline_s: float,
    ) -> tuple[Path, dict[str, Any]]:
        tools = ExtensionTools(
            nvcc=nvcc,
            host=host_compiler(nvcc),
            torch=torch,
            architecture=self._architecture,
            # Not the submission's time, where it has to be made first.
            recorder=recorder_objects(self._cache, nvcc),
        )
        deadline = time.monotonic() + deadline_s
        kernels: list[Any] = []
        diagnostics: list[Diagnostic] = []
        with self._cache.workspace() as folder:

            def compile_module(module: ExtensionSources) -> tuple[Said, ...]:
                place = folder / module.name
                place.mkdir()
                target = place / _TARGET
                return compile_extension(tools, module, target, folder=place, deadline=deadline)

            with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
                results = list(pool.map(compile_module, modules))
            for module, said in zip(modules, results, strict=True):
                text = "\n".join(part.text for part in said)
                found = parse_nvcc(text, module.files)
                failed = any(part.status for part in said)
                if not failed:
                    undefined = undefined_functions(folder / module.name / _TARGET, module.files)
                    failed, found = bool(undefined), (*undefined, *found)
                found = tuple(_placed(each, module) for each in found)
                if failed:
                    raise refusal(text, found, folder)
                kernels += as_plain(read_resources(text))
                diagnostics += [*found, *module.warnings]
            libraries = {f"{m.name}.so": folder / m.name / _TARGET for m in modules}
            facts = {"kernels": kernels, "diagnostics": as_plain(tuple(diagnostics))}
            return self._cache.publish(key, libraries, facts), facts


def _placed(found: Diagnostic, module: ExtensionSources) -> Diagnostic:
    """The same, where its place is in no file of the submission: in a text that was put together."""
    if found.file is None or not found.file.startswith(f"{module.name}/"):
        return found
    what = "cuda_sources" if found.file.endswith(".cu") else "cpp_sources"
    place = f"line {found.line} of the {what} of load_inline {module.name!r}"
    message = f"{found.message} ({place})"
    return replace(found, message=message, file=None, line=None, column=None)


def _require_fit(nvcc: Compiler, torch: TorchFiles) -> None:
    """See to it that kernels and torch use one CUDA runtime.

    Raises:
        MissingTool: they are of two major versions.
    """
    release = toolkit_release(nvcc)
    if release is None or torch.cuda is None or release[0] == torch.cuda[0]:
        return
    raise MissingTool(
        f"{nvcc.version} builds for CUDA {release[0]}, and torch {torch.version} is built for CUDA "
        f"{torch.cuda[0]}.{torch.cuda[1]}; bindings need one and the same. Install CUDA toolkit "
        f"{torch.cuda[0]} and let CUDA_GYM_NVCC name its nvcc, or another build of torch."
    )
