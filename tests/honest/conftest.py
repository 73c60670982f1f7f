"""A judge on a GPU, for the tests of this folder that need one."""

from __future__ import annotations

from tests.judge.conftest import cuda_judge

__all__ = ["cuda_judge"]
