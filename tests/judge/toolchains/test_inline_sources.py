from __future__ import annotations

import pytest

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.inline_calls import loads_inline
from cuda_gym.judge.toolchains.inline_sources import (
    SOLE_EXTENSION,
    InlineExtension,
    find_inline_extensions,
)

IMPORT = "from torch.utils.cpp_extension import load_inline\n"


def only(source: str) -> InlineExtension:
    (found,) = find_inline_extensions(source)
    return found


def test_a_call_is_read_as_torch_would_take_it() -> None:
    found = only(
        IMPORT + "SOURCE = '''\n__global__ void f() {}\n'''\n"
        "DECLARATION = 'void f();'\n"
        "m = load_inline(name='scale', cpp_sources=[DECLARATION], cuda_sources=SOURCE,\n"
        "    functions=['f', 'g'], extra_cuda_cflags=['-O3'], verbose=True, with_cuda=some())\n"
    )
    assert (found.name, found.functions, found.line) == ("scale", ("f", "g"), 6)
    assert [piece.text for piece in found.cpp] == ["void f();"]
    assert [(piece.text, piece.line) for piece in found.cuda] == [("\n__global__ void f() {}\n", 2)]
    assert found.cuda_flags == ("-O3",)
    assert found.implicit_headers
    assert found.translates_errors


@pytest.mark.parametrize(
    "source",
    [
        "import torch.utils.cpp_extension as e\ne.load_inline('a', 'x', 'y', functions='f')",
        "import torch\nimport torch.utils.cpp_extension\n"
        "torch.utils.cpp_extension.load_inline(name='a', cpp_sources='x', cuda_sources='y', functions='f')",
        "from torch.utils import cpp_extension\n"
        "cpp_extension.load_inline('a', cpp_sources='x', cuda_sources='y', functions={'f': 'doc'})",
        IMPORT + "OPTIONS = dict\nload_inline('a', 'x', cuda_sources=['y'], **{'functions': ('f',)})",
        IMPORT + "def build():\n    s = 'y'\n    return load_inline('a', 'x', s, functions=['f'])",
        IMPORT + "class M:\n    s = 'y'\n    m = load_inline('a', 'x', s, functions=['f'])",
        IMPORT + "s = ''\ns += 'y'\ntry:\n    m = load_inline('a', 'x', s, functions=['f'])\n"
        "except ImportError:\n    m = None",
        IMPORT + "class M:\n    def __init__(self):\n        self.m = load_inline('a', 'x', S, "
        "functions=['f'])\nS = 'y'",
    ],
)  # fmt: skip
def test_every_way_to_write_a_call_is_understood(source: str) -> None:
    found = only(source)
    assert (found.name, found.cpp[0].text, found.cuda[0].text) == ("a", "x", "y")
    assert found.functions == ("f",)


def test_a_name_that_is_bound_again_counts_as_it_is_at_each_call() -> None:
    source = IMPORT + "".join(
        f"s = '{text}'\nload_inline(name='{text}', cpp_sources='', cuda_sources=s)\n"
        for text in ("a", "b")
    )
    assert [e.cuda[0].text for e in find_inline_extensions(source)] == ["a", "b"]


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        ("load_inline('a', '', read())", "`read()`, which has to be run"),
        ("load_inline('a', '', s)", "the value of `s`"),
        ("load_inline('a b', '', '')", "the name 'a b'"),
        ("load_inline('a', '', 3)", "cuda_sources, which is neither a string nor"),
        ("load_inline('a', '', '', ['f'])", "4 arguments by position"),
        ("load_inline('a', '', '', functions=['f(']);", "the function 'f('"),
        ("load('a', ['a.cu'])", "reads source files"),
        ("load_inline('a', '', '', sycl_sources='x')", "not CUDA"),
    ],
)
def test_what_cannot_be_told_is_an_error_with_line_and_remedy(call: str, fact: str) -> None:
    source = f"from torch.utils.cpp_extension import load, load_inline\nif x:\n    s = ''\n{call}\n"
    with pytest.raises(CompileError) as caught:
        find_inline_extensions(source)
    assert fact in str(caught.value)
    assert str(caught.value).startswith("model_new.py:4: error: ")
    assert caught.value.diagnostics


def test_the_one_extension_of_a_file_may_compute_its_name() -> None:
    call = "load_inline(name=f'a_{hash(s)}', cpp_sources='', cuda_sources=s, functions=['f'])\n"
    assert only(f"{IMPORT}s = 'x'\n{call}").name == SOLE_EXTENSION
    with pytest.raises(
        CompileError, match=r"model_new.py:3: error: of several calls .* \(and 1 more\)"
    ):
        find_inline_extensions(f"{IMPORT}s = 'x'\n{call}{call}")


def test_a_name_that_is_not_known_is_told_with_what_it_comes_from() -> None:
    source = f"{IMPORT}s = 'x' + read()\nload_inline('a', '', s)"
    with pytest.raises(
        CompileError, match=r"^model_new.py:2: error: .* `s`, which comes from `read"
    ):
        find_inline_extensions(source)


def test_other_functions_of_that_name_are_not_torchs() -> None:
    source = "from mine import load_inline\nload_inline(object())  # not cpp_extension"
    assert not loads_inline(source)
    assert find_inline_extensions(source) == ()
