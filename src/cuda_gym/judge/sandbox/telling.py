"""What a candidate process tells the agent of what went wrong: which error, doing what, and where."""

from __future__ import annotations

import contextlib
import linecache
import sys
import traceback
from typing import Any

__all__ = ["MODEL_FILE", "Told", "describe", "own_place", "told"]

MODEL_FILE = "model_new.py"


class Told(Exception):
    """Something that the agent is to be told."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@contextlib.contextmanager
def told(doing: str) -> Any:
    """Whatever is raised inside is for the agent, with what was being done."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - a submission may raise anything
        raise Told("raised", describe(error, doing)) from None


def describe(error: BaseException, doing: str) -> str:
    """What was raised, and where in `model_new.py`: `model_new.py:12: y = f(x)`."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == MODEL_FILE]
    places = [f"  {MODEL_FILE}:{frame.lineno} in {frame.name}: {frame.line}" for frame in own[-4:]]
    text = "".join(traceback.format_exception_only(error)).strip()
    return "\n".join([f"{doing} raised {text[:2000]}", *places])


def own_place() -> str:
    """The line of `model_new.py` that is being run: `model_new.py:12 in forward: y = f(x)`."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename == MODEL_FILE:
            line = linecache.getline(MODEL_FILE, frame.f_lineno).strip()
            return f"{MODEL_FILE}:{frame.f_lineno} in {code.co_name}: {line}"
        frame = frame.f_back  # type: ignore[assignment]
    return MODEL_FILE
