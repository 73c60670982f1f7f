"""Reads what was typed, runs the verb, and turns errors into one message and an exit code.

Nothing heavy is imported before a verb runs, so that help comes at once; torch never is, only the
judge's workers have it.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from cuda_gym.cli.check_program import CheckProgram
from cuda_gym.cli.demo import Demo
from cuda_gym.cli.doctor import Doctor
from cuda_gym.cli.exit_codes import ExitCode, UsageError, code_of_error
from cuda_gym.cli.judge import JudgeFolder
from cuda_gym.cli.play import Play
from cuda_gym.cli.run_program import RunProgram
from cuda_gym.cli.serve import Serve
from cuda_gym.cli.show import Show
from cuda_gym.cli.tasks import ListTasks
from cuda_gym.errors import CudaGymError, did_you_mean

if TYPE_CHECKING:
    from types import FrameType

    from cuda_gym.cli.screen import Screen

__all__ = ["main"]

Verb = Demo | Doctor | ListTasks | Play | Show | JudgeFolder | RunProgram | CheckProgram | Serve

_VERBS: Mapping[str, type[Verb]] = {
    "demo": Demo,
    "doctor": Doctor,
    "tasks": ListTasks,
    "play": Play,
    "show": Show,
    "judge": JudgeFolder,
    "run": RunProgram,
    "check": CheckProgram,
    "serve": Serve,
}

_HELP = """\
usage: cuda-gym VERB ...

Agents write CUDA kernels; a judge proves them right and times them.

{verbs}

Begin with `cuda-gym demo`. `cuda-gym VERB --help` explains a verb, `cuda-gym --version` names the
version.

Exit codes:
- 0 done, and what was judged is correct
- 1 the submission is not correct
- 2 what was typed makes no sense
- 3 the machine failed, or there is nothing to judge with
- 4 there is no such task, or it cannot be judged
- 130 interrupted
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
        if typed[:1] in ([], ["-h"], ["--help"]):
            sys.stdout.write(_HELP.format(verbs=_verb_lines()))
            return ExitCode.OK
        return _run(typed)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read has gone, as `head` does; what is left to flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.NO_READER


def _verb_lines() -> str:
    """Each verb, and the first line of its explanation."""
    firsts = {name: (inspect.getdoc(verb) or "").splitlines()[0] for name, verb in _VERBS.items()}
    return "\n".join(f"  {name:<8}{first}" for name, first in firsts.items())


def _run(typed: Sequence[str]) -> int:
    # What stands behind `--` is meant for the program, not for us.
    end = typed.index("--") if "--" in typed else len(typed)
    is_json = "--json" in typed[:end]
    try:
        verb = _read(typed[0], typed[1:end], typed[end + 1 :])
        with _terminated_like_interrupted():
            return verb.run(_screen(is_json=is_json))
    except SystemExit as help_was_shown:
        return int(help_was_shown.code or 0)
    except CudaGymError as error:
        code = code_of_error(error)
        _screen(is_json=is_json).fail(str(error), kind=type(error).__name__, code=code)
        return code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the processes are being ended; let that be
        _screen(is_json=is_json).fail(
            "Interrupted. What was started ends now.", kind="Interrupted", code=130
        )
        return ExitCode.INTERRUPTED


def _read(name: str, options: Sequence[str], behind: Sequence[str]) -> Verb:
    """The verb that was typed.

    Raises:
        UsageError: there is none of that name, or its options make no sense.
        SystemExit: its help was asked for, and printed.
    """
    if name not in _VERBS:
        raise UsageError(
            f"There is no verb {name[:80]!r}.{did_you_mean(name, _VERBS)} "
            f"They are {', '.join(_VERBS)}."
        )
    from cuda_gym.cli.usage import read_options

    kind = _VERBS[name]
    if issubclass(kind, (RunProgram, CheckProgram)):
        return replace(read_options(kind, name, options), arguments=tuple(behind))
    return read_options(kind, name, [*options, *behind])


def _screen(*, is_json: bool) -> Screen:
    from cuda_gym.cli.screen import Screen

    return Screen(is_json=is_json)


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
