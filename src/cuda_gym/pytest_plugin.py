"""CUDA programs as tests: `pytest test_reduction.cu` on a machine without a GPU.

A file `test_*.cu` that has a `main` is one test. It is built for this machine's processor so that it
watches every access, and run; it passes where the program ends with 0 and nothing was found. Headers
are found as the compiler finds them. The plugin is there wherever cuda_gym is installed; `-p no:cuda_gym`
leaves it out.

    [pytest]
    cuda_include = include third_party
    cuda_deadline_s = 60
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["pytest_addoption", "pytest_collect_file"]

_DEADLINE_S = "60"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two settings."""
    parser.addini("cuda_include", "folders to look for headers of CUDA programs in", "paths", [])
    parser.addini("cuda_deadline_s", "seconds that a CUDA program may take", default=_DEADLINE_S)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take `test_*.cu`, and any other `.cu` that was named on the command line."""
    is_named = parent.session.isinitpath(file_path)
    if file_path.suffix != ".cu" or not (file_path.name.startswith("test_") or is_named):
        return None
    return _CudaFile.from_parent(parent, path=file_path)


class _CudaFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        yield _CudaProgram.from_parent(self, name="main")


class _CudaProgram(pytest.Item):
    def runtest(self) -> None:
        from cuda_gym.judge.toolchains.cuda_program import build_program, check_program

        folders = self.config.getini("cuda_include")
        deadline_s = float(self.config.getini("cuda_deadline_s"))
        build = build_program([self.path], include=folders, checking=True)
        ran, findings = check_program(build, deadline_s=deadline_s)
        self.add_report_section("call", "output of the program", ran.output)
        if findings or ran.status:
            raise _Failed(ran.status, [str(finding) for finding in findings])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was found, or what the compiler said; a traceback would show our own code."""
        from cuda_gym.errors import CudaGymError

        error = excinfo.value
        if isinstance(error, _Failed):
            return str(error)
        if isinstance(error, CudaGymError):
            said = [str(diagnostic) for diagnostic in getattr(error, "diagnostics", ())]
            return "\n".join(said or [str(error)])
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.path.name


class _Failed(Exception):
    """A program that ended badly, or in which something was found."""

    def __init__(self, status: int, findings: list[str]) -> None:
        ended = [f"The program ended with status {status}."] if status else []
        super().__init__("\n".join([*findings, *ended]))
