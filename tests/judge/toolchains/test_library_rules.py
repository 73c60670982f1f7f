from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cuda_gym.errors import Refused
from cuda_gym.judge.toolchains.cuda_on_cpu import runtime
from cuda_gym.judge.toolchains.library_rules import require_own_work
from cuda_gym.judge.toolchains.reaching_symbols import reaching_out

WEAK = 'extern "C" __attribute__((weak)) '


@pytest.mark.parametrize(
    ("source", "allowed", "fact"),
    [
        (WEAK + "void cublasSgemm_v2(); void f() { cublasSgemm_v2(); }", (), "cublasSgemm_v2"),
        (WEAK + "void cblas_sgemm(); void f() { cblas_sgemm(); }", (), "cblas_sgemm"),
        ('extern "C" void* find(void*, const char*) __asm__("dlsym"); void* f() { return find(0, "x"); }', (),
         "dlsym, which looks up"),
        ('#include <cstdlib>\nauto go = &std::system; int f() { return go("true"); }', (),
         "system, which starts"),
        ("#include <future>\nint f() { return std::async([] { return 1; }).get(); }", (),
         "starts a thread"),
        (WEAK + "int cudaLibraryLoadData(...); int f() { return cudaLibraryLoadData(0); }", (),
         "cudaLibraryLoadData, which loads machine code that the judge did not compile"),
        ('extern "C" void* room(void*, long, int, int, int, long) __asm__("mmap64"); void* f() '
         "{ return room(0, 4096, 7, 34, -1, 0); }", (), "mmap64, which makes memory whose code the judge"),
    ],
)  # fmt: skip
def test_what_a_library_asks_of_others_is_refused_however_it_is_spelled(
    source: str, allowed: tuple[str, ...], fact: str, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=fact):
        require_own_work(compiled(source, tmp_path), allowed)


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        (WEAK + "void cublasSgemm_v2(); void f() { cublasSgemm_v2(); }", ("gemm",)),
        ("#include <cmath>\n#include <cstdio>\n#include <vector>\n#include <mutex>\n#include <stdexcept>\n"
         "std::mutex m; void f(double x) { std::lock_guard<std::mutex> held(m); std::vector<double> v(3, std::exp(x));"
         ' std::printf("%f", v.at(1)); if (x < 0) throw std::runtime_error("x"); }', ()),
        ("void system(double); void socket_of(double x); double fork_size(double x) { return x; }", ()),
    ],
)  # fmt: skip
def test_what_launchers_need_is_allowed(
    source: str, allowed: tuple[str, ...], tmp_path: Path
) -> None:
    require_own_work(compiled(source, tmp_path), allowed)


def test_whatever_the_harness_asks_of_its_runtime_is_refused_to_others() -> None:
    asked = re.findall(r"cuda_on_cpu_\w+", Path(str(runtime.__file__)).read_text())
    assert "cuda_on_cpu_set_num_threads" in asked
    assert [name for name in asked if reaching_out(name) is None] == []
    assert reaching_out("cuda_on_cpu_launch") is None


def compiled(source: str, folder: Path) -> Path:
    text, library = folder / "a.cpp", folder / "a.so"
    text.write_text(source)
    subprocess.run(["g++", "-shared", "-fPIC", text, "-o", library], check=True, timeout=60)
    return library
