from __future__ import annotations

import pytest

from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.kernel_files import kernel_files


def submission(text: str) -> Submission:
    return Submission.of({"kernels/k.cu": text})


def test_kernels_and_their_headers_are_compiled_and_nothing_else() -> None:
    files = {"kernels/a.cu": "1", "kernels/deep/b.cuh": "2", "kernels/c.h": "3"}
    others = {"model_new.py": "x", "a.cu": "y", "kernels/notes.txt": "z"}
    assert kernel_files(Submission.of({**files, **others})) == files


@pytest.mark.parametrize(
    "files", [{}, {"model_new.py": "x"}, {"kernels/a.cuh": "int x;"}, {"a.cu": ""}]
)
def test_a_submission_without_a_kernel_file_is_told_so(files: dict[str, str]) -> None:
    with pytest.raises(CompileError, match=r"There is no kernels/\*\.cu"):
        kernel_files(Submission.of(files))


@pytest.mark.parametrize("text", ["int x;\0", "// \udc80"])
def test_text_that_is_no_text_is_an_error(text: str) -> None:
    with pytest.raises(CompileError, match=r"kernels/k\.cu contains"):
        kernel_files(submission(text))


@pytest.mark.parametrize("name", ['a"b.cu', "a\nb.cu", "x" * 250 + ".cu", "a.cu/b.cu", "\udc80.cu"])
def test_a_name_that_is_no_file_name_is_an_error(name: str) -> None:
    with pytest.raises(CompileError, match="is no name for a source file"):
        kernel_files(Submission.of({f"kernels/{name}": ""}))


@pytest.mark.parametrize("text", ["x" * 300_000, "k<<<1, 1>>>(x);" * 2000])
def test_a_submission_has_a_largest_size(text: str) -> None:
    with pytest.raises(CompileError, match=r"are the most\. Leave out"):
        kernel_files(submission(text))
