from __future__ import annotations

from pathlib import Path

import pytest
import torch

from cuda_gym.judge.profiling.torch_build import read_torch_cuda, torch_cuda


def test_the_cuda_of_torch_is_known_without_importing_it() -> None:
    told = torch.version.cuda
    assert torch_cuda() == (None if told is None else tuple(map(int, told.split(".")[:2])))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cuda: Optional[str] = '13.0'", (13, 0)),
        ('cuda = "12.8"', (12, 8)),
        ("cuda: Optional[str] = None", None),
        ("hip: Optional[str] = '6.4'", None),
    ],
)
def test_a_build_for_a_processor_or_another_maker_has_none(
    tmp_path: Path, line: str, expected: tuple[int, int] | None
) -> None:
    (tmp_path / "version.py").write_text(f"__version__ = '2.11.0'\ndebug = False\n{line}\n")
    assert read_torch_cuda(tmp_path) == expected


def test_no_torch_has_none(tmp_path: Path) -> None:
    assert read_torch_cuda(tmp_path) is None
