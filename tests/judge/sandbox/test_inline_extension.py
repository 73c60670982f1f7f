from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch.utils

from cuda_gym.judge.sandbox.inline_extension import install
from cuda_gym.judge.toolchains.inline_sources import SOLE_EXTENSION

NAME = "torch.utils.cpp_extension"


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `install` does is for good; undo it after each test."""
    monkeypatch.setitem(sys.modules, NAME, ModuleType(NAME))
    monkeypatch.setattr(torch.utils, "cpp_extension", None, raising=False)


def submission(code: str, **modules: ModuleType) -> dict[str, object]:
    install(modules)
    space: dict[str, object] = {}
    exec(code, space)
    return space


def test_a_submission_gets_the_compiled_module_however_it_imports_the_loader() -> None:
    scale = ModuleType("scale")
    space = submission(
        "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
        "a = load_inline(name='scale', cpp_sources='', verbose=True)\n"
        "b = torch.utils.cpp_extension.load_inline('scale', '')\n",
        scale=scale,
    )
    assert space["a"] is scale
    assert space["b"] is scale


def test_several_calls_of_one_name_get_their_modules_in_order() -> None:
    first, second = ModuleType("a"), ModuleType("a")
    space = submission(
        "from torch.utils.cpp_extension import load_inline\n"
        "found = [load_inline('a', '') for _ in range(3)]\n",
        a=first,
        a_v1=second,
    )
    assert space["found"] == [first, second, first]


def test_the_extension_of_a_computed_name_is_handed_out_under_any_name() -> None:
    module = ModuleType(SOLE_EXTENSION)
    code = (
        "from torch.utils.cpp_extension import CUDA_HOME, load_inline\na = load_inline('a_77', '')"
    )
    assert submission(code, **{SOLE_EXTENSION: module})["a"] is module


@pytest.mark.parametrize(
    ("call", "fact"),
    [("load_inline('other', '')", "there are: scale"), ("load('scale', [])", "reads files")],
)
def test_what_was_not_compiled_before_is_an_error_with_the_remedy(call: str, fact: str) -> None:
    code = f"from torch.utils.cpp_extension import load, load_inline\n{call}\n"
    with pytest.raises(ImportError, match=fact):
        submission(code, scale=ModuleType("scale"))
