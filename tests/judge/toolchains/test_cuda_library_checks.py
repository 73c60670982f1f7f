from __future__ import annotations

import pytest
import torch

from cuda_gym.judge.toolchains.cuda_library_checks import check, check_geometry

X, WEIGHT = torch.zeros(2, 4, 9, 11), torch.zeros(6, 4, 3, 2)


def test_tensors_elsewhere_are_refused_by_the_name_of_both_devices() -> None:
    with pytest.raises(ValueError, match=r"a is a dense tensor on cpu; it must be .* on cuda:1"):
        check("gemm", "a", X, torch.device("cuda", 1))


def test_a_device_without_a_number_is_any_of_its_kind() -> None:
    check("gemm", "a", torch.zeros(1, device="cpu"), torch.device("cpu"))


@pytest.mark.parametrize(
    ("shape", "fits"), [((), True), ((3,), True), ((1, 3), True), ((2, 1), True), ((2,), False)]
)
def test_a_bias_is_what_expands_to_the_product(shape: tuple[int, ...], fits: bool) -> None:
    bias, target = torch.zeros(shape), (2, 3)
    try:
        check("gemm", "bias", bias, torch.device("cpu"), expands_to=target)
        assert fits
        bias.expand(target)
    except ValueError:
        assert not fits


@pytest.mark.parametrize(
    ("stride", "padding", "dilation"),
    [([1, 1], [0, 0], [1, 1]), ([2, 3], [1, 2], [1, 1]), ([1, 2], [3, 0], [4, 5])],
)
def test_the_shape_of_a_convolution_is_that_of_torch(
    stride: list[int], padding: list[int], dilation: list[int]
) -> None:
    expected = torch.conv2d(X, WEIGHT, None, stride, padding, dilation).shape
    assert check_geometry(X, WEIGHT, stride, padding, dilation) == tuple(expected)
