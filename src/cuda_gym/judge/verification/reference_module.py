"""A task's source, loaded: the class `Model`, its inputs and its constructor's arguments.

Covered: sources in KernelBench's format, checked against that format before anything is judged.
Not covered: sources that nobody trusts. The code is executed here, in the reference worker, with
all of its rights; only tasks that were installed on purpose belong here.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import hashlib
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.core.task import Task
from cuda_gym.errors import BadTask, CudaGymError
from cuda_gym.judge.verification.allocation import is_out_of_memory, out_of_memory
from cuda_gym.judge.verification.making import make_there, named_device
from cuda_gym.judge.verification.nests import flatten_outputs, map_tensors

__all__ = ["ReferenceModule"]

_FORMAT: Final = "A task defines `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`."
_LEAVES: Final = (torch.Tensor, bool, int, float, complex, str, type(None))


class ReferenceModule:
    """The reference of one task: makes its model and its inputs, the same ones for the same seed.

    >>> source = '''
    ... import torch
    ... from torch import nn
    ... rows = 2
    ... class Model(nn.Module):
    ...     def forward(self, x):
    ...         return x + 1
    ... def get_inputs():
    ...     return [torch.rand(rows, 3)]
    ... def get_init_inputs():
    ...     return []
    ... '''
    >>> reference = ReferenceModule(source, name="plus_one")
    >>> reference.make_inputs(seed=1, overrides={"rows": 5})[0].shape
    torch.Size([5, 3])
    >>> reference.integer_constants()
    {'rows': 2}
    """

    def __init__(self, source: str, *, name: str, device: torch.device | str = "cpu") -> None:
        """Execute the source in a module of its own and check that it has a task's three names.

        What they return is checked whenever they are called: inputs can take gigabytes.

        Args:
            source: Python in KernelBench's format.
            name: What the task is called in messages.
            device: Where its model and its inputs lie.

        Raises:
            BadTask: with the line and the remedy.
        """
        self.name: Final = name
        self.source: Final = source
        self.device: Final = named_device(device)
        self._tree = _parse(source, name)
        self._module = _execute(self._tree, source, name, self.device)
        self._model_class = self._find_model_class()
        self._get_inputs = self._find_function("get_inputs")
        self._get_init_inputs = self._find_function("get_init_inputs")

    @classmethod
    def of(cls, task: Task, device: torch.device | str = "cpu") -> ReferenceModule:
        """Load the reference of a task.

        Raises:
            BadTask: with the line and the remedy.
        """
        return cls(task.source, name=task.id, device=device)

    def make_model(self, seed: int, overrides: Mapping[str, int] | None = None) -> nn.Module:
        """A fresh model in eval mode, without gradients; equal seeds give equal parameters."""
        with self._overridden(overrides or {}), self._blame("Model(*get_init_inputs())"):
            model = make_there(lambda: self._model_class(*self._init_inputs()), seed, self.device)
            if not isinstance(model, nn.Module):
                made = type(model).__name__
                raise BadTask(f"{self.name}: Model() made a {made}, not an nn.Module.")
            return model.to(self.device).eval().requires_grad_(False)

    def make_inputs(self, seed: int, overrides: Mapping[str, int] | None = None) -> list[Any]:
        """Call `get_inputs()` under a seed.

        Args:
            seed: Equal seeds give equal inputs.
            overrides: Other values for module-level integer constants, during this call only.
        """
        with self._overridden(overrides or {}), self._blame("get_inputs()"):
            inputs = make_there(self._get_inputs, seed, self.device)
            inputs = self._checked_arguments(inputs, "get_inputs()")
            moved: list[Any] = map_tensors(inputs, lambda tensor: tensor.to(self.device))
        return moved

    def run(self, model: nn.Module, inputs: Sequence[Any]) -> list[Tensor]:
        """The flattened outputs of a model of this task, without gradients, all on its device."""
        with torch.no_grad(), self._blame("Model.forward()"):
            return [output.to(self.device) for output in flatten_outputs(model(*inputs))[0]]

    def try_on_host(self, model: nn.Module, inputs: Sequence[Any]) -> None:
        """Run on the CPU, where a value out of range raises and does no harm.

        Raises:
            BadTask: where it raises.
        """
        with torch.no_grad(), self._blame("Model.forward()"):
            copy.deepcopy(model).cpu()(*map_tensors(list(inputs), lambda tensor: tensor.cpu()))

    def init_inputs(self, overrides: Mapping[str, int] | None = None) -> list[Any]:
        """What the constructor of `Model` is called with, seed 0; tensors stay where they are."""
        with self._overridden(overrides or {}):
            return make_there(self._init_inputs, 0, self.device)

    def integer_constants(self) -> dict[str, int]:
        """Module-level names that are assigned one integer, once; in source order."""
        counts: dict[str, int] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                counts[node.id] = counts.get(node.id, 0) + 1
        found: dict[str, int] = {}
        for statement in self._tree.body:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name) and counts[target.id] == 1:
                    value = getattr(self._module, target.id, None)
                    if type(value) is int:
                        found[target.id] = value
        return found

    def _init_inputs(self) -> list[Any]:
        with self._blame("get_init_inputs()"):
            arguments = self._get_init_inputs()
        return self._checked_arguments(arguments, "get_init_inputs()")

    def _find_model_class(self) -> Callable[..., Any]:
        found = getattr(self._module, "Model", None)
        if not (isinstance(found, type) and issubclass(found, nn.Module)):
            what = "has no `Model`" if found is None else "has a `Model` that is no nn.Module class"
            raise BadTask(f"{self.name} {what}. {_FORMAT}")
        return found

    def _find_function(self, name: str) -> Callable[[], Any]:
        found = getattr(self._module, name, None)
        if not callable(found):
            raise BadTask(f"{self.name} has no function `{name}()`. {_FORMAT}")
        return found  # type: ignore[no-any-return]

    def _checked_arguments(self, arguments: Any, call: str) -> list[Any]:
        if not isinstance(arguments, (list, tuple)):
            raise BadTask(
                f"{self.name}: {call} returned a {type(arguments).__name__}; "
                "return a list of positional arguments."
            )
        for place, argument in enumerate(arguments):
            self._check_argument(argument, f"{call}[{place}]")
        return list(arguments)

    def _check_argument(self, argument: Any, place: str) -> None:
        if isinstance(argument, (list, tuple)):
            for number, item in enumerate(argument):
                self._check_argument(item, f"{place}[{number}]")
        elif not isinstance(argument, _LEAVES):
            raise BadTask(
                f"{self.name}: {place} is a {type(argument).__name__}; arguments are tensors, "
                "numbers, strings, None, and lists or tuples of them."
            )

    def _blame(self, call: str) -> _Blame:
        return _Blame(self.name, call, self._module.__file__, self.device)

    @contextlib.contextmanager
    def _overridden(self, overrides: Mapping[str, int]) -> Iterator[None]:
        before = {name: getattr(self._module, name) for name in overrides}
        try:
            for name, value in overrides.items():
                setattr(self._module, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self._module, name, value)


@dataclass(frozen=True)
class _Blame:
    """Turns whatever a task's code raises into a BadTask that names the task's line."""

    name: str
    call: str
    file: str | None
    device: torch.device

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: Any
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, CudaGymError):
            return
        if is_out_of_memory(error):
            raise out_of_memory(self.name, self.call, error, self.device) from error
        lines = [f.lineno for f in traceback.extract_tb(trace) if f.filename == self.file]
        place = f"{self.name}, line {lines[-1]}" if lines else self.name
        fact = f"{place}: {self.call} raised {type(error).__name__}: {error}."
        raise BadTask(f"{fact} Run the file on its own to see the whole traceback.") from error


def _parse(source: str, name: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise BadTask(f"{name}, line {error.lineno}: {error.msg}. {_FORMAT}") from error
    except ValueError as error:
        raise BadTask(f"{name} is no Python text: {error}. {_FORMAT}") from error


def _execute(tree: ast.Module, source: str, name: str, device: torch.device) -> ModuleType:
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    module = ModuleType(f"cuda_gym_task_{digest}")
    module.__file__ = f"<task {name} {digest}>"
    # Tracebacks, `inspect.getsource` and inductor look a class's source up through these two.
    linecache.cache[module.__file__] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        module.__file__,
    )
    sys.modules[module.__name__] = module
    code = compile(tree, module.__file__, "exec")
    with _Blame(name, "importing it", module.__file__, device):
        make_there(lambda: exec(code, module.__dict__), 0, device)
    return module
