"""From the sources of one Python module to its shared library.

    .cu     by nvcc, for one architecture
    .cpp    by the host compiler, at the same time
    link    both, the launch recorder and torch's libraries

Covered: a deadline and a memory limit for each program, messages in the lines of the submission, what
ptxas says of each kernel. A torch without CUDA does for compiling: what needs CUDA is then left open,
and fails where the module is loaded.

Not covered: device code that is linked across files (`-rdc`).
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.extension_flags import standard_of
from cuda_gym.judge.toolchains.extension_headers import light_headers
from cuda_gym.judge.toolchains.extension_units import ExtensionSources
from cuda_gym.judge.toolchains.launch_recorder_build import RecorderObjects
from cuda_gym.judge.toolchains.nvcc_object import compile_object
from cuda_gym.judge.toolchains.nvrtc_headers import device_headers
from cuda_gym.judge.toolchains.toolkit_facts import cuda_runtime, toolkit_release
from cuda_gym.judge.toolchains.torch_files import TorchFiles

__all__ = [
    "CPP_FLAGS",
    "CUDA_FLAGS",
    "ExtensionTools",
    "Said",
    "compile_extension",
    "host_compiler",
]

CPP_FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden")
CUDA_FLAGS = (
    "-O3",
    "-lineinfo",
    "-Xptxas=-v",
    "-Xcompiler=-fPIC,-fvisibility=hidden",
    # torch's own headers expect these of whoever compiles them.
    "--expt-relaxed-constexpr",
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
)
_MISSING = re.compile(r"torch/include/([^:\n]+):[^\n]*fatal error: ([\w./]+): No such file")
_MEMORY_KIB = 16 << 20
"""Both front ends take 3 GiB for all headers of torch."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What became of one program."""

    status: int
    text: str


@dataclass(frozen=True, kw_only=True)
class ExtensionTools:
    """What modules are compiled with on this machine."""

    nvcc: Compiler
    host: Compiler
    torch: TorchFiles
    architecture: str
    recorder: RecorderObjects


def host_compiler(nvcc: Compiler) -> Compiler:
    """The C++ compiler that nvcc uses too; torch's libraries want the C++ library of GCC.

    Raises:
        MissingTool: there is none.
    """
    path = shutil.which("g++") or shutil.which("c++")
    if path is None:
        raise MissingTool(
            "There is no g++ on PATH, which bindings for torch are compiled with. "
            "`apt install g++` provides it."
        )
    return Compiler(command=(path,), version="g++", identity=nvcc.identity, memory_kib=_MEMORY_KIB)


def compile_extension(
    tools: ExtensionTools,
    sources: ExtensionSources,
    target: Path,
    *,
    folder: Path,
    deadline: float,
) -> tuple[Said, ...]:
    """Make the library of a module; what each program said, the last one where it failed.

    Args:
        tools: What to compile with.
        sources: The module.
        target: The file to make.
        folder: Where to work.
        deadline: For all of it, in the time of `time.monotonic`.

    Raises:
        CandidateTimeout: the deadline has passed.
        MissingTool: the CUDA runtime is missing.
    """
    objects = [str(folder / f"{number}.o") for number in range(len(sources.units))]

    def compile_unit(number: int) -> Said:
        return _compile_unit(
            tools, sources, number, objects[number], folder=folder, deadline=deadline
        )

    with ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
        said = list(pool.map(compile_unit, range(len(sources.units))))
    if any(part.status for part in said):
        _require_headers(said, tools.torch)
        return tuple(said)
    place = folder / "link"
    place.mkdir()
    command = [*_link_flags(tools, place), "-o", str(target), *objects, *tools.recorder.objects]
    command += [f"-l{name}" for name in (*tools.torch.libraries, "cudart")]
    return (*said, _run(tools.host, command, place, deadline))


def _require_headers(said: Sequence[Said], torch: TorchFiles) -> None:
    """See to it that it is not the machine which lacks a header that torch's own ones include.

    Raises:
        MissingTool: it is.
    """
    for part in said:
        if found := _MISSING.search(part.text):
            raise MissingTool(
                f"There is no {found[2]}, which the header {found[1]} of torch {torch.version} includes. Install "
                "the whole CUDA toolkit; a wheel of torch with CUDA brings the libraries' headers too."
            )


def _compile_unit(
    tools: ExtensionTools,
    sources: ExtensionSources,
    number: int,
    target: str,
    *,
    folder: Path,
    deadline: float,
) -> Said:
    """One object; with few of torch's headers, and with all where that was too few."""
    unit = sources.units[number]
    place = folder / f"unit-{number}"
    _write(sources.files, place)
    light = light_headers(sources.files, unit, tools.torch)
    said = None
    if light is not None:
        _write(light.files, place / "light")
        said = _compile(tools, sources, unit, target, place, deadline, ("light",))
        if not said.status or not light.may_lack(said.text):
            return said
    return _compile(tools, sources, unit, target, place, deadline, ())


def _compile(
    tools: ExtensionTools,
    sources: ExtensionSources,
    unit: str,
    target: str,
    place: Path,
    deadline: float,
    first: Sequence[str],
) -> Said:
    is_cuda = unit.endswith(".cu")
    own = sources.cuda_flags if is_cuda else sources.cpp_flags
    standard, own = standard_of(own, tools.torch.standard)
    includes = [*first, *map(str, tools.torch.include_folders)]
    flags = [
        *(CUDA_FLAGS if is_cuda else CPP_FLAGS),
        standard,
        f"-DTORCH_EXTENSION_NAME={sources.name}",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
        "-D_GLIBCXX_USE_CXX11_ABI=1",
        # After our own macros, which a submission may take back.
        *own,
    ]
    if is_cuda:
        generate = tools.architecture.replace("sm_", "compute_")
        flags.append(f"-gencode=arch={generate},code={tools.architecture}")
    else:
        includes += _toolkit_folders(tools.nvcc)
    # After the toolkit's, which nvcc finds by itself: for headers that a small toolkit lacks.
    includes += map(str, tools.torch.wheel_folders)
    flags += ["-I.", *(part for folder in includes for part in ("-isystem", folder))]
    if not is_cuda:
        return _run(tools.host, [*flags, "-c", unit, "-o", target], place, deadline)
    nvcc = replace(tools.nvcc, memory_kib=_MEMORY_KIB)
    status, text = compile_object(
        nvcc, flags, sources.files, unit, target, folder=place, deadline=deadline
    )
    return Said(status=status, text=text)


def _toolkit_folders(nvcc: Compiler) -> list[str]:
    """Where the host compiler finds CUDA's headers, as nvcc does by itself."""
    release = toolkit_release(nvcc)
    found = device_headers(release[0]) if release else None
    return [str(folder) for folder in found.folders] if found else []


def _link_flags(tools: ExtensionTools, place: Path) -> list[str]:
    runtime = cuda_runtime(tools.nvcc)
    # A wheel has the library under its full name only.
    (place / "libcudart.so").symlink_to(runtime)
    library_folder = tools.torch.library_folder
    wrapped = ",".join(tools.recorder.linker_options)
    return [
        "-shared",
        f"-L{place}",
        f"-L{library_folder}",
        f"-Wl,-rpath,{library_folder}",
        f"-Wl,-rpath,{runtime.parent}",
        # What torch's libraries need in turn is then found as well.
        "-Wl,--no-as-needed",
        *([f"-Wl,{wrapped}"] if wrapped else []),
    ]


def _write(files: Mapping[str, str], place: Path) -> None:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")


def _run(compiler: Compiler, arguments: Sequence[str], folder: Path, deadline: float) -> Said:
    left_s = max(deadline - time.monotonic(), 0.01)
    status, text = compiler.run(arguments, folder=folder, deadline_s=left_s)
    return Said(status=status, text=text)
