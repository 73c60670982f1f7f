"""No right bindings are accused for what their compiled modules ask of C and C++."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.extension_rules import require_own_kernels

HONEST = {
    "initialises once, under a lock, and keeps a table": """\
#include <mutex>
#include <unordered_map>
static std::once_flag once;
static std::mutex lock;
static std::unordered_map<int, float> sizes;
float size_of(int key) {
    std::call_once(once, [] { sizes[0] = 1.0f; });
    std::lock_guard<std::mutex> held(lock);
    return sizes[key];
}
""",
    "names its own functions like what is forbidden": """\
extern "C" float connect(float x) { return x + 1.0f; }
extern "C" float socket(float x) { return connect(x); }
namespace cu { float ModuleLoad(float x) { return x; } }
struct Layer { void* map; int mprotect(int x) { return x; } };
int system(double x) { return Layer{}.mprotect((int)x) + (int)socket(cu::ModuleLoad(1.0f)); }
int fork_join(int x);
int clone(float* x) { return fork_join((int)*x); }
""",
    "clears memory, writes to the log and raises": """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
void clear(float* x, size_t n) {
    if (x == nullptr) throw std::invalid_argument("no tensor");
    if (std::getenv("SCALE_DEBUG")) std::fprintf(stderr, "clear %zu\\n", n);
    std::memset(x, 0, n * sizeof *x);
}
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_a_right_binding_passes_though_it(name: str, tmp_path: Path) -> None:
    source, library = tmp_path / "a.cpp", tmp_path / "a.so"
    source.write_text(HONEST[name])
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True, timeout=60)
    require_own_kernels(library, ())
