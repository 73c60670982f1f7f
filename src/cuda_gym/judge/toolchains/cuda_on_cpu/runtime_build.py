"""What every build of the cpu device needs: its runtime library, and CUDA's headers precompiled.

Built once for a compiler and a processor, and kept.

What decides how any build of this device comes out is hashed here too, so that the keys of programs,
of submissions and of the runtime change together.
"""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import Steps
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import CHECKING_FLAGS, FLAGS, cpu_identity
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import compile_flags
from cuda_gym.judge.toolchains.cuda_on_cpu.precompiled_header import precompile
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME

__all__ = ["own_version", "runtime_library"]

_HERE = Path(__file__).parent
_TOOLCHAINS = tuple(
    _HERE.parent / f"{name}.py"
    for name in (
        "build_cache", "builds", "compiler", "cpu", "cuda_declarations", "cuda_launches",
        "cuda_parameters", "cuda_program", "cuda_source", "cuda_tokens", "cuda_types",
        "direct_kernels", "header_files", "kernel_files", "kernel_runtime", "taken_names",
        "type_aliases",
    )
)  # fmt: skip
"""What of the toolchains beside this folder has a part in builds of this device."""
# The compiler in `ziglang` builds its own C++ library first: more than a minute.
_DEADLINE_S = 300.0


def runtime_library(cache: BuildCache, compiler: Compiler, *, checking: bool = False) -> Path:
    """The runtime library in a cache, built where it is not there, with CUDA's headers beside it.

    Raises:
        MissingTool: the compiler cannot build it.
        StorageError: the cache cannot be written.
    """
    flags = [*(CHECKING_FLAGS if checking else FLAGS), "-O3", "-DCUDA_ON_CPU_RUNTIME=1"]
    key = digest("runtime", compiler.identity, cpu_identity(), own_version(), *flags)
    found = cache.find(key)
    if found is not None:
        return found[0] / RUNTIME_NAME
    parts = ("*.cpp", "checking/*.cpp") if checking else ("*.cpp",)
    sources = sorted(path for part in parts for path in (_HERE / "runtime_library").glob(part))
    with cache.workspace() as folder:
        objects = [str(folder / f"{number}.o") for number in range(len(sources))]
        compiles = [
            [*flags, "-c", str(source), "-o", target]
            for source, target in zip(sources, objects, strict=True)
        ]
        shared = ("-shared", "-pthread", f"-Wl,-soname,{RUNTIME_NAME}")
        link = [*objects, *shared, "-o", str(folder / RUNTIME_NAME)]
        steps = Steps(compiler=compiler, folder=folder, deadline=time.monotonic() + _DEADLINE_S)
        results = steps.compile_and_link(compiles, link)
        if failed := [said for status, said in results if status]:
            raise MissingTool(
                f"{compiler.version} cannot build the runtime of the cpu device: "
                f"{failed[0].strip()[:500]}. CUDA_GYM_CXX may name another compiler."
            )
        kernels = compile_flags(compiler, checking=checking)[:-2]
        # Every checking build keeps it, and of the others few do.
        headers = precompile(steps, kernels, keeps_index=checking)
        built = {RUNTIME_NAME: folder / RUNTIME_NAME, **headers}
        return cache.publish(key, built, {}) / RUNTIME_NAME


@lru_cache
def own_version() -> str:
    """Content hash of everything of ours that decides how a build comes out."""
    paths = [path for path in sorted(_HERE.rglob("*")) if path.suffix in (".py", ".h", ".cpp")]
    files = [path for path in (*paths, *_TOOLCHAINS) if path.exists()]
    return digest(*(part for path in files for part in (path.name, path.read_text("utf-8"))))
