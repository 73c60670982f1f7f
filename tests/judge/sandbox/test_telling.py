"""Whatever goes wrong in `model_new.py` is told with its line and, where Python does not say it, a remedy."""

from __future__ import annotations

import linecache
from collections.abc import Iterator

import pytest

from cuda_gym.judge.sandbox.device_faults import DeviceFault
from cuda_gym.judge.sandbox.telling import (
    MODEL_FILE,
    Told,
    own_place,
    place_of_attribute,
    place_of_return,
    told,
)

SOURCE = """\
class Base:
    def __setattr__(self, name, value):
        raise AttributeError("cannot assign parameters before Module.__init__() call")


class ModelNew(Base):
    def __init__(self, columns):
        self.weight = columns

    def forward(self, x):
        here()
        return x

    def other(self):
        return 1
"""


@pytest.fixture
def module() -> Iterator[dict[str, object]]:
    lines = SOURCE.splitlines(keepends=True)
    linecache.cache[MODEL_FILE] = (len(SOURCE), None, lines, MODEL_FILE)
    contents: dict[str, object] = {}
    exec(compile(SOURCE, MODEL_FILE, "exec"), contents)
    yield contents
    del linecache.cache[MODEL_FILE]


def construct(module: dict[str, object], *arguments: object) -> str:
    with pytest.raises(Told) as caught, told("constructing ModelNew"):
        module["ModelNew"](*arguments)  # type: ignore[operator]
    return str(caught.value)


def test_an_error_has_its_line_and_what_to_do(module: dict[str, object]) -> None:
    assert construct(module, 3).endswith(
        "call super().__init__() first in __init__\n"
        "  model_new.py:8 in __init__: self.weight = columns\n"
        '  model_new.py:3 in __setattr__: raise AttributeError("cannot assign parameters before '
        'Module.__init__() call")'
    )


def test_a_call_that_does_not_fit_is_told_with_the_definition(module: dict[str, object]) -> None:
    message = construct(module)
    assert "give ModelNew the constructor of Model" in message
    assert message.endswith("  model_new.py:7: def __init__(self, columns):")


def test_the_line_that_runs_is_known_to_what_it_calls(module: dict[str, object]) -> None:
    places: list[str] = []
    module["here"] = lambda: places.append(own_place())
    module["ModelNew"].forward(None, 1)  # type: ignore[attr-defined]
    assert places == ["model_new.py:11 in forward: here()"]


def test_lines_are_found_by_what_stands_in_them(module: dict[str, object]) -> None:
    assert place_of_attribute("weight") == "model_new.py:8"
    assert place_of_attribute("bias") == ""
    assert place_of_return() == "model_new.py:12"


def test_without_the_one_return_only_the_file_is_told() -> None:
    assert place_of_return() == MODEL_FILE


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error: an illegal memory access was encountered\nCompile with ..."),
        DeviceFault("an illegal memory access was encountered"),
    ],
)
def test_a_fault_of_the_device_is_one_whatever_was_being_done(error: RuntimeError) -> None:
    fault = r"^an illegal memory access was encountered$"
    with pytest.raises(DeviceFault, match=fault), told("prepare()"):
        raise error
