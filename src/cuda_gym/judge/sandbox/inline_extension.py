"""`torch.utils.cpp_extension` in a candidate process: `load_inline` hands out what was compiled before.

The judge has read the sources off `model_new.py` and compiled them; nothing is compiled where a
submission runs. torch's own module is never imported, which also would take half a second.

Covered: several calls, several of one name in the order of the file, one of a name that is
computed; `from ... import` and dotted use.
Not covered: whether a call's sources are those that were compiled; what runs is judged by how it runs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

import torch.utils

from cuda_gym.judge.toolchains.inline_sources import SOLE_EXTENSION

__all__ = ["install"]

_NAME = "torch.utils.cpp_extension"


def install(modules: Mapping[str, ModuleType]) -> None:
    """Make `load_inline` give back modules that are loaded already; for this process, for good.

    Args:
        modules: By the name that `load_inline` is given; a second one of the same name as `name_v1`.
    """
    calls: Counter[str] = Counter()

    def load_inline(name: str, *_sources: Any, **_options: Any) -> ModuleType:
        again = calls[name]
        calls[name] += 1
        module = modules.get(f"{name}_v{again}" if again else name) or modules.get(name)
        module = module or modules.get(SOLE_EXTENSION)
        if module is None:
            known = ", ".join(modules) or "none"
            raise ImportError(
                f"load_inline(name={name!r}): no such extension was found in model_new.py before it "
                f"ran; there are: {known}. Write the name as a plain string."
            )
        return module

    def load(*_sources: Any, **_options: Any) -> NoReturn:
        raise ImportError(
            "torch.utils.cpp_extension.load reads files, and a submission has none where it runs. Use "
            "load_inline with the sources as strings."
        )

    stand_in = ModuleType(_NAME, "Extensions that the judge has compiled.")
    vars(stand_in).update(load_inline=load_inline, load=load, CUDA_HOME="/usr/local/cuda")
    sys.modules[_NAME] = stand_in
    vars(torch.utils)["cpp_extension"] = stand_in
