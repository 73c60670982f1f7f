"""Kernels and nothing else, by NVRTC: machine code for one GPU in a tenth of a second.

    accepts   sources without host code, of a submission that launches its kernels from Python
    compile   each `.cu` file by itself, as nvcc does, in a process that may crash (`nvrtc_pool`)
    index     which symbol each kernel has in which file, for whoever loads it (`cubin`)
    cache     by the content of everything that decides the result

Covered: the language, options and messages of nvcc; headers of the toolkit that is there. Not covered:
what only nvcc can tell, such as the names of a host library: there this says `NvrtcCannot`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuda_gym.core.findings import Build, BuildForm, Diagnostic, Severity
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.block_sizes import with_known_blocks
from cuda_gym.judge.toolchains.build_cache import digest
from cuda_gym.judge.toolchains.builds import find_or_build, own_version, refusal
from cuda_gym.judge.toolchains.cubin_symbols import kernel_symbols
from cuda_gym.judge.toolchains.direct_kernels import launches_directly
from cuda_gym.judge.toolchains.gpu_toolchain import GpuToolchain
from cuda_gym.judge.toolchains.kernel_files import kernel_files
from cuda_gym.judge.toolchains.kernel_only import host_code
from cuda_gym.judge.toolchains.kernel_warnings import local_memory_warnings, require_static_shared
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.nvrtc_headers import (
    ALWAYS,
    C_HEADERS,
    DEVICE_HEADERS,
    DeviceHeaders,
    device_headers,
)
from cuda_gym.judge.toolchains.nvrtc_pool import (
    NvrtcCannot,
    Said,
    compile_units,
    nvrtc_version,
    warm,
)
from cuda_gym.judge.toolchains.occupancy import capability_of
from cuda_gym.judge.toolchains.ptxas import read_resources

__all__ = ["INDEX_NAME", "NvrtcCannot", "NvrtcToolchain"]

INDEX_NAME = "kernels.json"
"""Names the cubins beside it, and the kernels in each."""


class NvrtcToolchain(GpuToolchain):
    """Compiles files that hold only kernels."""

    @property
    def name(self) -> str:
        """The compiler and what it compiles for: `nvrtc 13.0 (sm_90)`.

        Raises:
            MissingTool: there is no NVRTC.
        """
        major, minor = nvrtc_version()
        return f"nvrtc {major}.{minor} ({self._architecture})"

    def warm(self) -> bool:
        """Start the compiler ahead of the first build; whether there is one."""
        return warm()

    def accepts(self, submission: Submission) -> bool:
        """Whether the submission has no host code to compile, as far as its text says, and NVRTC is there."""
        if not launches_directly(submission.text("model_new.py") or ""):
            return False
        try:
            files = kernel_files(submission, entries=False)
        except CompileError:  # whoever compiles it says so
            return False
        known = frozenset(C_HEADERS)
        if host_code(files, known | DEVICE_HEADERS) is not None or not warm():
            return False
        major, _ = nvrtc_version()
        if self._driver_cuda is not None and major > self._driver_cuda[0]:
            return False
        return device_headers(major) is not None or host_code(files, known) is None

    def build(self, submission: Submission, *, deadline_s: float = 60.0) -> Build:
        """Compile every `kernels/*.cu`, or find it in the cache.

        Raises:
            NvrtcCannot: this is for nvcc.
            CompileError: the compiler said no; carries the diagnostics.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: there is no NVRTC.
            StorageError: the cache cannot be written.
        """
        files = kernel_files(submission, entries=False)
        found = device_headers(nvrtc_version()[0])
        options = _options(self._architecture, found)
        parts = [part for path in sorted(files) for part in (path, files[path])]
        identity = (self.name, found.version if found else "", own_version())
        key = digest("nvrtc", *identity, *options, *parts)
        build = find_or_build(
            self._cache,
            key,
            lambda: self._compile(key, files, options, deadline_s),
            toolchain=self.name,
        )
        index = Path(build.library).with_name(INDEX_NAME)
        return replace(build, library=str(index), form=BuildForm.CUBIN)

    def _compile(
        self, key: str, files: Mapping[str, str], options: Sequence[str], deadline_s: float
    ) -> tuple[Path, dict[str, Any]]:
        units = sorted(path for path in files if path.endswith(".cu"))
        with self._cache.workspace() as folder:
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
            said = compile_units(
                folder, units, options=options, headers=C_HEADERS, deadline_s=deadline_s
            )
            log = "\n".join(one.log for one in said)
            diagnostics = parse_nvcc(log, files)
            if any(one.status for one in said):
                _require_own_fault(said, diagnostics, files)
                raise refusal(log, diagnostics, folder)
            cubins = {
                f"{number}.cubin": folder / f"{unit}.cubin" for number, unit in enumerate(units)
            }
            index = [
                {"cubin": name, "kernels": kernel_symbols(path.read_bytes())}
                for name, path in cubins.items()
            ]
            (folder / INDEX_NAME).write_text(json.dumps(index), encoding="utf-8")
            facts = self._facts(log, diagnostics, files)
            built = {INDEX_NAME: folder / INDEX_NAME, **cubins}
            return self._cache.publish(key, built, facts), facts

    def _facts(
        self, log: str, diagnostics: Sequence[Diagnostic], files: Mapping[str, str]
    ) -> dict[str, Any]:
        """What a build tells of its kernels."""
        taken = read_resources(log)
        require_static_shared(taken, files)
        kernels = with_known_blocks(taken, files, capability_of(self._architecture))
        names = {kernel.name.rpartition("::")[2] for kernel in kernels}
        told = [d for d in diagnostics if not _is_called_idle(d, names)]
        told += local_memory_warnings(kernels, files)
        return {"kernels": as_plain(kernels), "diagnostics": as_plain(tuple(told))}


_FLAGS = (
    "--std=c++17",
    "--generate-line-info",
    "--ptxas-options=-v",
    f"--pre-include={ALWAYS}",
    # Headers of the toolkit define INT_MAX and its kind once more, in other words.
    "--diag-suppress=47",
)
_COMPILATION = 6
"""NVRTC's status where it is the text that is wrong."""
_FOR_NVCC = re.compile(
    r"JIT mode|cannot open source file|\bstd\b"
    # Macros and types that headers of the host have: whether this one exists nvcc knows.
    r"|identifier \"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|cu[A-Z]\w*|cuda[A-Z]\w*)\" is undefined"
)
_PLACE = re.compile(r"^(\S[^(\n]*)\(\d+\): (?:\w+ )?error", re.MULTILINE)
_NEVER_REFERENCED = re.compile(r'function "(?:[^"]*::)?(\w+)" was declared but never referenced')


def _options(architecture: str, headers: DeviceHeaders | None) -> tuple[str, ...]:
    folders = () if headers is None else headers.folders
    include = (f"--include-path={folder}" for folder in folders)
    return (f"--gpu-architecture={architecture}", *_FLAGS, *include)


def _require_own_fault(
    said: Iterable[Said], diagnostics: Iterable[Diagnostic], files: Mapping[str, str]
) -> None:
    """Pass where what is wrong is wrong for nvcc, too.

    Raises:
        NvrtcCannot: it may be right there.
    """
    for one in said:
        if one.status not in (0, _COMPILATION):
            raise NvrtcCannot(f"NVRTC gives status {one.status}: {one.log[:300]}")
        if others := set(_PLACE.findall(one.log)).difference(files):
            raise NvrtcCannot(f"NVRTC finds errors in {min(others)}")
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if not errors:
        raise NvrtcCannot("NVRTC failed without an error in the sources")
    for error in errors:
        if _FOR_NVCC.search(error.message):
            raise NvrtcCannot(str(error))


def _is_called_idle(diagnostic: Diagnostic, kernels: Iterable[str]) -> bool:
    """Whether it says that nothing launches a kernel: Python does."""
    found = _NEVER_REFERENCED.search(diagnostic.message)
    return found is not None and found[1] in kernels
