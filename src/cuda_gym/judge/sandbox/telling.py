"""What a candidate process tells the agent of what went wrong: which error, doing what, and where."""

from __future__ import annotations

import contextlib
import linecache
import re
import sys
import traceback
from typing import Any

from cuda_gym.judge.sandbox.device_faults import DeviceFault, fault_in, lacks_memory

__all__ = [
    "MODEL_FILE",
    "Told",
    "describe",
    "failed",
    "own_place",
    "place_of_attribute",
    "place_of_return",
    "told",
]

MODEL_FILE = "model_new.py"
_REMEDIES = {
    "before Module.__init__() call": "call super().__init__() first in __init__",
    "object has no attribute '_parameters'": "call super().__init__() first in __init__",
    "ModelNew.__init__() ": "give ModelNew the constructor of Model",
    "ModelNew.forward() ": "give forward the arguments of Model.forward",
    "name 'cuda_extension' is not defined": "write `import cuda_extension` at the top",
    "name 'torch' is not defined": "write `import torch` at the top",
    "name 'nn' is not defined": "write `from torch import nn` at the top",
    "could not create a primitive": "compute without oneDNN in __init__: it compiles code, which is not allowed on cpu",
    "out of memory": "allocate what a call needs, and let go of it when the call is over",
    "failed to map segment from shared object": "import only what is Python, or what torch has loaded",
}
"""What to do about errors of Python that do not say so."""


class Told(Exception):
    """Something that the agent is to be told."""

    def __init__(self, kind: str, message: str, step: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.step = step
        """What the submission was doing; empty where it was not running."""


@contextlib.contextmanager
def told(doing: str) -> Any:
    """Whatever is raised inside is for the agent, with what was being done; but a fault of the device is one.

    Raises:
        Told: something else was raised.
        DeviceFault: nothing more can be done in this process.
    """
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - a submission may raise anything
        raise failed(error, doing) from None


def failed(error: BaseException, doing: str) -> Told | DeviceFault:
    """What stands for an error that a submission has raised: a fault of the device is one, whatever was done.

    Args:
        error: Of any kind.
        doing: `prepare()`, `constructing ModelNew`.
    """
    if fault := fault_in(error):
        return DeviceFault(fault, doing)
    return Told("memory" if lacks_memory(error) else "raised", describe(error, doing), doing)


def describe(error: BaseException, doing: str) -> str:
    """What was raised, and where in `model_new.py`: `model_new.py:12: y = f(x)`."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == MODEL_FILE]
    places = [f"  {MODEL_FILE}:{frame.lineno} in {frame.name}: {frame.line}" for frame in own[-4:]]
    text = "".join(traceback.format_exception_only(error)).strip()[:2000]
    remedy = next((f"; {remedy}" for part, remedy in _REMEDIES.items() if part in text), "")
    if not places and (method := re.search(r"ModelNew\.(\w+)\(\)", text)):
        places = [f"  {place}" for place in _definitions_of(method[1])]
    return "\n".join([f"{doing} raised {text}{remedy}", *places])


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


def place_of_attribute(name: str) -> str:
    """Where `model_new.py` gives the model an attribute: `model_new.py:12`; empty where unseen."""
    if not name.isidentifier():
        return ""
    found = _lines_with(rf"self\.{name}\s*[:=]|register_\w+\(\s*['\"]{name}['\"]")
    return f"{MODEL_FILE}:{found[0]}" if found else ""


def place_of_return() -> str:
    """Where forward returns: `model_new.py:12`; the file alone where it does so in several lines."""
    start = _lines_with(r"def forward\(")
    end = _lines_with(r"^\s*(def|class)\b")
    if not start:
        return MODEL_FILE
    stop = next((line for line in end if line > start[-1]), sys.maxsize)
    found = [line for line in _lines_with(r"^\s*return\b") if start[-1] < line < stop]
    return f"{MODEL_FILE}:{found[0]}" if len(found) == 1 else MODEL_FILE


def _definitions_of(method: str) -> list[str]:
    lines = linecache.getlines(MODEL_FILE)
    found = _lines_with(rf"def {method}\(")[-1:]
    return [f"{MODEL_FILE}:{number}: {lines[number - 1].strip()}" for number in found]


def _lines_with(pattern: str) -> list[int]:
    lines = linecache.getlines(MODEL_FILE)
    return [number for number, line in enumerate(lines, start=1) if re.search(pattern, line)]
