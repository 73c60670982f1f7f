from __future__ import annotations

import pytest
import torch

from cuda_gym.judge.verification.slices import most_elements, pieces_of


@pytest.mark.parametrize(
    ("num_elements", "width", "most"),
    [(12, 3, 100), (12, 3, 7), (12, 12, 5), (1, 1, 1), (0, 1, 4), (96, 32, 33), (96, 32, 31)],
)
def test_every_element_is_in_one_piece_and_with_its_own_group(
    num_elements: int, width: int, most: int
) -> None:
    flat = torch.arange(num_elements)
    seen = []
    for piece in pieces_of(num_elements, width, most):
        rows = piece.of(flat)
        assert rows.numel() <= most
        groups = torch.arange(piece.groups.start, piece.groups.stop)
        assert torch.equal(rows // width, groups[:, None].expand_as(rows))
        seen.append(rows.flatten())
    assert torch.equal(torch.cat(seen) if seen else flat, flat)


def test_a_gpu_takes_larger_pieces_than_a_cache_holds() -> None:
    assert most_elements(torch.device("cpu")) < most_elements(torch.device("cuda", 0))
