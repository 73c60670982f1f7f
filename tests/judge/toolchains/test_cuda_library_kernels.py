from __future__ import annotations

import pytest
import torch

from cuda_gym.judge.toolchains.cuda_library_kernels import TorchKernels, row_major

KERNELS = TorchKernels(torch.device("cpu"), allow_tf32=False)
SQUARE = torch.arange(12.0).view(3, 4)


def test_what_blas_can_read_is_not_copied() -> None:
    for matrix in (SQUARE, SQUARE.t(), SQUARE[:, 1:3], SQUARE.t()[1:3]):
        assert KERNELS.matrix(matrix).data_ptr() == matrix.data_ptr()


@pytest.mark.parametrize(
    "matrix", [SQUARE[:, ::2], SQUARE[:1].expand(5, 4), SQUARE.as_strided((3, 4), (1, 1))]
)
def test_what_blas_cannot_read_is_copied(matrix: torch.Tensor) -> None:
    copied = KERNELS.matrix(matrix)
    assert copied.data_ptr() != matrix.data_ptr()
    assert torch.equal(copied, matrix)


def test_free_strides_become_those_of_a_new_tensor() -> None:
    free = SQUARE.as_strided((1, 3, 1, 4), (7, 4, 1, 1))
    assert free.is_contiguous()
    assert row_major(free).stride() == torch.empty(1, 3, 1, 4).stride()
    assert torch.equal(row_major(free), free)


def test_what_has_these_strides_already_is_given_back() -> None:
    assert row_major(SQUARE) is SQUARE
