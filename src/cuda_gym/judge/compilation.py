"""From the files of a submission to a build, with all that its texts tell before anything of it runs.

    check     what the rules forbid, and what is no submission at all
    build     by the device's toolchain
    read      the signatures of launchers and kernels; calls that do not fit them, launches without stream

Covered: errors of the compiler come before those of signatures, since it tells better what is no C++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build, BuildForm, Diagnostic
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.device_rules import device_rule_warnings
from cuda_gym.judge.toolchains.direct_kernels import launches_directly, parse_kernels
from cuda_gym.judge.toolchains.extension_rules import (
    inline_texts,
    require_no_bindings,
    require_own_kernels,
)
from cuda_gym.judge.toolchains.function_places import extern_c_warnings
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.toolchains.library_rules import require_own_work
from cuda_gym.judge.toolchains.print_warnings import print_warnings
from cuda_gym.judge.toolchains.stream_warnings import stream_warnings
from cuda_gym.judge.toolchains.taken_names import taken_name_warnings
from cuda_gym.judge.toolchains.toolchain import Toolchain
from cuda_gym.judge.verification.extension_calls import Signature, call_warnings
from cuda_gym.judge.verification.operator_warnings import operator_warnings
from cuda_gym.judge.verification.static_checks import check_kernels, check_model

__all__ = ["build_submission"]


def build_submission(
    task: Task,
    submission: Submission,
    *,
    device: Device,
    toolchain: Toolchain,
    held: Callable[[], AbstractContextManager[None]],
    deadline_s: float,
) -> Build:
    """The build, with the warnings of the compiler and ours.

    Args:
        task: Its rules.
        submission: What is built.
        device: Where it will run.
        toolchain: The device's.
        held: What is held while the compiler runs: the lock of a device that it takes time from.
        deadline_s: For the compiler.

    Raises:
        AgentError: it breaks the rules, does not compile, or cannot run on the device.
        MachineError: the machine failed.
    """
    source = submission.text("model_new.py")
    if source is None:
        raise CompileError("There is no model_new.py. Write one with a class ModelNew(nn.Module).")
    of_model = check_model(source, device=device, library=task.library)
    if device.kind == "cpu":
        require_no_bindings(submission)
    files = {path: text for path, text in submission.files if path != "model_new.py"}
    of_kernels = check_kernels({**files, **inline_texts(source)}, task.library)
    with held():
        build = toolchain.build(submission, deadline_s=deadline_s)
    if build.form is BuildForm.EXTENSION:
        require_own_kernels(Path(build.library), task.library)
    elif build.form is BuildForm.LIBRARY:
        require_own_work(Path(build.library), task.library)
    warnings = _warnings(source, files, has_launchers=build.form is not BuildForm.EXTENSION)
    return replace(
        build,
        diagnostics=(*build.diagnostics, *warnings),
        evidence=(*of_model, *of_kernels),
    )


def _warnings(
    source: str, files: Mapping[str, str], *, has_launchers: bool
) -> Iterator[Diagnostic]:
    """What the texts tell beyond errors.

    Raises:
        CompileError: a launcher cannot be called, or there is none.
    """
    yield from stream_warnings(files)
    yield from print_warnings(files)
    yield from operator_warnings(source)
    if not has_launchers:
        return
    launchers = parse_launchers(files, required=not launches_directly(source))
    yield from extern_c_warnings(files, source)
    yield from device_rule_warnings(files)
    yield from taken_name_warnings(launchers)
    yield from call_warnings(
        source,
        {
            launcher.name: Signature(num_arguments=len(launcher.arguments), signature=str(launcher))
            for launcher in launchers
        },
        {
            kernel.name: Signature(
                num_arguments=len(kernel.arguments), signature=str(kernel), problem=kernel.problem
            )
            for kernel in parse_kernels(files)
        },
    )
