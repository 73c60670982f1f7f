from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.extension_headers import light_headers
from cuda_gym.judge.toolchains.torch_files import find_torch

TORCH = find_torch()


def headers_of(text: str) -> str | None:
    light = light_headers({"a.cu": text}, "a.cu", TORCH)
    return None if light is None else "\n".join(light.files.values())


def test_the_operators_that_a_source_names_are_declared_and_no_others() -> None:
    light = headers_of(
        "#include <torch/extension.h>\nauto f() { return torch::empty_like(at::relu(x)); }"
    )
    assert light is not None
    assert "ATen/ops/empty_like.h" in light
    assert "ATen/ops/relu.h" in light
    assert light.count("ATen/ops/") == 2


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void f() {}",
        "#include <torch/extension.h>\ntorch::nn::Linear f;",
        "#include <torch/extension.h>\nauto f = torch::from_blob(p, {1});",
        "#include <torch/extension.h>\n#include <torch/csrc/autograd/variable.h>",
        "#include <torch/extension.h>\nTORCH_LIBRARY(a, m) {}",
    ],
)
def test_a_source_that_wants_all_of_torch_or_none_gets_torchs_own_headers(text: str) -> None:
    assert headers_of(text) is None


def test_pybind_is_there_where_a_source_binds() -> None:
    include = "#include <torch/extension.h>\n"
    assert "csrc/utils/pybind.h" in (headers_of(f"{include}PYBIND11_MODULE(a, m) {{}}") or "")
    assert "csrc/utils/pybind.h" not in (headers_of(include) or "")


@pytest.mark.parametrize(
    ("said", "more_would_help"),
    [
        ('a.cu(3): error: namespace "torch" has no member "stack"', True),
        ("a.cpp:3:7: error: 'acc_type' is not a member of 'at'", True),
        ('a.cu(3): error: identifier "AT_ASSERTM" is undefined', True),
        ('a.cu(3): error: identifier "idx" is undefined', False),
        ('a.cu(3): error: expected a ";"', False),
    ],
)
def test_a_mistake_of_the_source_is_told_at_once_and_a_lack_of_headers_made_good(
    said: str, more_would_help: bool
) -> None:
    light = light_headers({"a.cu": "#include <torch/types.h>"}, "a.cu", TORCH)
    assert light is not None
    assert light.may_lack(said) is more_would_help
