from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.linker_messages import read_linker_message

FILES = {
    "kernels/a.cu": 'extern "C" void twice(int n);\nvoid f() {\n  twice(2);\n  cublasCreate(0);\n}\n',
    "kernels/b.cu": "\nvoid twice(int n) {}\nvoid f() {}\nfloat table[4];\n",
}


def _said(text: str) -> str:
    return str(
        read_linker_message(f"/usr/bin/ld: x.o: in function `f': y.cpp:(.text): {text}", FILES)
    )


def test_a_name_that_is_defined_twice_is_told_at_both_places() -> None:
    assert _said("multiple definition of `f()'; z.o: first defined here") == (
        "kernels/b.cu:3: error: multiple definition of `f()': at kernels/a.cu:2 and kernels/b.cu:3; "
        "rename one of the two, or write static in front of one that only its own file needs"
    )


def test_a_variable_that_is_defined_twice_has_no_place() -> None:
    assert _said("multiple definition of `table'").startswith(
        "multiple definition of `table'; write"
    )


def test_a_function_that_is_declared_in_another_way_is_told_where_it_is() -> None:
    said = _said("undefined reference to `twice'")
    assert said.startswith("kernels/a.cu:3: error: undefined reference to `twice': kernels/b.cu:2 ")


def test_a_function_of_another_library_is_told_that_there_is_none() -> None:
    said = _said("undefined reference to `cublasCreate'")
    assert "kernels/a.cu:4" in said
    assert "no other library" in said


def test_a_function_that_nobody_has_written_is_told_so() -> None:
    said = _said("undefined reference to `ns::gone<float>(float*, int)'")
    assert said.endswith("no file under kernels/ defines it")


@pytest.mark.parametrize(
    "line", ["multiple definition of `__device_stub__Z1kPf(float*)'", "skipping incompatible x.so"]
)
def test_what_is_about_no_name_of_the_agent_is_left_out(line: str) -> None:
    assert read_linker_message(line, FILES) is None
