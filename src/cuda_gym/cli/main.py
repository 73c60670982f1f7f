"""Reads what was typed, runs the verb, and turns errors into one message and an exit code.

Nothing heavy is imported before a verb runs, so that help comes at once; torch never is, only the
judge's workers have it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import tyro

from cuda_gym.cli.check_program import CheckProgram
from cuda_gym.cli.demo import Demo
from cuda_gym.cli.doctor import Doctor
from cuda_gym.cli.exit_codes import ExitCode, code_of_error
from cuda_gym.cli.judge import JudgeFolder
from cuda_gym.cli.play import Play
from cuda_gym.cli.run_program import RunProgram
from cuda_gym.cli.serve import Serve
from cuda_gym.cli.show import Show
from cuda_gym.cli.tasks import ListTasks
from cuda_gym.errors import CudaGymError

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["main"]

Verb = (
    Annotated[Demo, tyro.conf.subcommand("demo")]
    | Annotated[Doctor, tyro.conf.subcommand("doctor")]
    | Annotated[ListTasks, tyro.conf.subcommand("tasks")]
    | Annotated[Play, tyro.conf.subcommand("play")]
    | Annotated[Show, tyro.conf.subcommand("show")]
    | Annotated[JudgeFolder, tyro.conf.subcommand("judge")]
    | Annotated[RunProgram, tyro.conf.subcommand("run")]
    | Annotated[CheckProgram, tyro.conf.subcommand("check")]
    | Annotated[Serve, tyro.conf.subcommand("serve")]
)

_DESCRIPTION = """\
Agents write CUDA kernels; a judge proves them right and times them.

Begin with `cuda-gym demo`; `cuda-gym VERB --help` explains a verb.

Exit codes:

- 0 done, and what was judged is correct
- 1 the submission is not correct
- 2 what was typed makes no sense
- 3 the machine failed, or there is nothing to judge with
- 4 there is no such task, or it cannot be judged
- 130 interrupted

`cuda-gym --version` names the version.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb.

    Args:
        arguments: What was typed behind the program's name; None is the command line.

    Returns:
        The exit code.
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed == ["--version"]:
        sys.stdout.write(f"cuda-gym {version('cuda-gym')}\n")
        return ExitCode.OK
    try:
        return _run(_read(typed or ["--help"]))
    except SystemExit as end:  # tyro has printed help, or what is wrong with the usage
        return int(end.code or 0)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read has gone, as `head` does; what is left to flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.NO_READER


def _read(typed: list[str]) -> Verb:
    # tyro would take what is meant for the program for options and files of ours.
    has_own = typed[0] in ("run", "check") and "--" in typed
    end = typed.index("--") if has_own else len(typed)
    verb: Verb = tyro.cli(
        Verb,
        prog="cuda-gym",
        description=_DESCRIPTION,
        args=typed[:end],
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
    )
    if isinstance(verb, (RunProgram, CheckProgram)):
        return replace(verb, arguments=tuple(typed[end + 1 :]))
    return verb


def _run(verb: Verb) -> int:
    from cuda_gym.cli.screen import Screen

    screen = Screen(is_json=getattr(verb, "json", False))
    try:
        with _terminated_like_interrupted():
            return verb.run(screen)
    except CudaGymError as error:
        code = code_of_error(error)
        screen.fail(str(error), kind=type(error).__name__, code=code)
        return code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the processes are being ended; let that be
        screen.fail("Interrupted. What was started ends now.", kind="Interrupted", code=130)
        return ExitCode.INTERRUPTED


@contextlib.contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM ends a verb as Ctrl-C does: with what it started."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
