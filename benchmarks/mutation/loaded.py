"""A build in a process of its own, without the judge: load it, call it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch
from benchmarks.mutation.draws import TaskModule
from benchmarks.mutation.guarded import GuardedMemory
from torch import Tensor, nn

from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.launchers import Launcher, parse_launchers

__all__ = ["LoadedSubmission"]


class LoadedSubmission:
    """A right kernel or a mutant; one a process."""

    def __init__(self, library: str, files: Mapping[str, str], operations: tuple[str, ...]) -> None:
        runtime = Runtime(library)
        runtime.set_num_threads(1)
        launchers = parse_launchers(files)
        extension = make_extension(
            launchers,
            runtime.library,
            device=torch.device("cpu"),
            stream=lambda: 0,
            take_error=runtime.take_error,
            allowed_library=operations,
            on_library_call=lambda _: None,
        )
        self.sizes: dict[str, dict[str, int]] = {}
        """The integers that each launcher was given last, by parameter."""
        for launcher in launchers:
            self._watch(extension, launcher)
        self._memory = GuardedMemory(shows=False)
        for operation in operations:
            self._guard(extension.library, operation)
        sys.modules["cuda_extension"] = extension
        self._namespace: dict[str, Any] = {"__name__": "model_new"}
        exec(compile(files["model_new.py"], "model_new.py", "exec"), self._namespace)

    def _watch(self, extension: ModuleType, launcher: Launcher) -> None:
        call: Callable[..., None] = getattr(extension, launcher.name)

        def watched(*values: Any) -> None:
            pairs = zip(launcher.arguments, values, strict=False)
            integers = {p.name: v for p, v in pairs if type(v) is int and p.type == "int"}
            self.sizes[launcher.name] = integers
            call(*values)

        setattr(extension, launcher.name, watched)

    def _guard(self, library: ModuleType, operation: str) -> None:
        """Lay what a library call gives between walls, as kernels may write to it."""
        call: Callable[..., Tensor] = getattr(library, operation)

        def guarded(*values: Any, **named: Any) -> Any:
            return self._memory.hold(call(*values, **named))

        setattr(library, operation, guarded)

    def outputs(
        self, task: TaskModule, model: nn.Module, inputs: list[Any], memory: GuardedMemory
    ) -> list[Tensor]:
        """What comes out, with the parameters of a reference."""
        self._memory = memory
        with memory.instead_of_torchs(), torch.no_grad():
            ours: nn.Module = self._namespace["ModelNew"](*task.init_inputs())
            ours.requires_grad_(False).load_state_dict(model.state_dict())
            found = ours(*(memory.hold(x) for x in inputs))
        return list(found) if isinstance(found, (tuple, list)) else [found]
