"""What a candidate is told of a submission: its sources, its build, and what may be called of it."""

from __future__ import annotations

from cuda_gym.core.findings import Build, BuildForm
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.sandbox.messages import Load, Tree
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels
from cuda_gym.judge.toolchains.launchers import parse_launchers

__all__ = ["load_message"]


def load_message(
    task: Task,
    submission: Submission,
    build: Build,
    *,
    init_args: Tree,
    num_threads: int,
    check_blocks: int = 0,
) -> Load:
    """The order to import a submission and construct its model.

    Args:
        task: Says what else may be called.
        submission: Its sources.
        build: Of it.
        init_args: What `ModelNew` is constructed with, as the reference told it.
        num_threads: For its kernels.
        check_blocks: How many blocks of each launch a checking build looks at; 0 is all of them.
    """
    # An extension says itself what it offers.
    is_read = build.form is not BuildForm.EXTENSION
    files = {p: text for p, text in submission.files if is_read and p != "model_new.py"}
    return Load(
        source=submission.text("model_new.py") or "",
        library=build.library,
        form=build.form.value,
        launchers=tuple(map(as_plain, parse_launchers(files, required=False))),
        kernels=tuple(map(as_plain, parse_kernels(files))),
        allowed_library=task.library,
        allow_tf32=task.allow_tf32,
        init_args=init_args,
        num_threads=num_threads,
        check_blocks=check_blocks,
    )
