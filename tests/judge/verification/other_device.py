"""A device that is not there, played on the CPU: whatever mixes it with the host raises.

A tensor belongs to it by its storage. Constructors, `to` and `device` see it under the name of a real
device that torch knows; what is computed from its tensors belongs to it too. As on a GPU, numbers
(tensors without dimensions) of the host may be mixed with its tensors, and all else may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

OTHER = torch.device("xpu:0")
_HOST = torch.device("cpu")
_COPIES = {"copy_"}
"""What may read from one device and write to another."""


class MixedDevices(RuntimeError):
    """What a GPU would refuse."""


class OtherDevice(TorchFunctionMode):
    """While it is entered, `OTHER` can be used."""

    def __init__(self) -> None:
        super().__init__()
        self._storages: dict[int, Any] = {}  # held, so that no address is used again
        self._generators: dict[int, tuple[torch.Generator, torch.device]] = {}

    def generator(self, device: torch.device) -> torch.Generator:
        """A generator for a device, which draws nothing elsewhere."""
        generator = torch._C.Generator(_HOST)
        self._generators[id(generator)] = generator, device
        return generator

    def holds(self, tensor: Tensor) -> bool:
        """Whether a tensor belongs to the device."""
        with torch._C.DisableTorchFunction():
            return tensor.untyped_storage()._cdata in self._storages

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        del types
        named = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if getattr(func, "__self__", None) is Tensor.device:
            return OTHER if self.holds(args[0]) else func(*args)
        if name in ("to", "cpu"):
            return self._moved(name, args, named)
        if name in ("numpy", "__array__") and self.holds(args[0]):
            raise MixedDevices(f"{name} of a tensor on {OTHER}")
        wanted = named.get("device")
        self._refuse_other_generator(named.get("generator"), wanted)
        if wanted is not None:
            named["device"] = _HOST if torch.device(wanted) == OTHER else wanted
        tensors = list(_tensors((args, named)))
        marked = [self.holds(tensor) for tensor in tensors]
        if any(marked) and name not in _COPIES:
            self._refuse_mixed(name, tensors, marked)
        result = func(*args, **named)
        is_other = any(marked) if wanted is None else torch.device(wanted) == OTHER
        if is_other:
            self._mark(result)
        return result

    def _refuse_other_generator(self, generator: torch.Generator | None, wanted: Any) -> None:
        _, device = self._generators.get(id(generator), (None, None))
        if device is not None and device != torch.device(wanted or _HOST):
            raise MixedDevices(f"a generator of {device} for a tensor on {wanted or _HOST}")

    def _refuse_mixed(self, name: str, tensors: list[Tensor], marked: list[bool]) -> None:
        for tensor, is_other in zip(tensors, marked, strict=True):
            if not is_other and tensor.ndim:
                raise MixedDevices(f"{name} of tensors on {OTHER} and the CPU")

    def _moved(self, name: str, args: Any, named: dict[str, Any]) -> Tensor:
        tensor, *rest = args
        places = [*rest, *named.values()] if name == "to" else [_HOST]
        target = OTHER if self.holds(tensor) else _HOST
        kept: list[Any] = []
        for place in places:
            if isinstance(place, (str, torch.device)):
                target = torch.device(place)
            elif isinstance(place, Tensor):
                target = OTHER if self.holds(place) else _HOST
                kept.append(place.dtype)
            elif isinstance(place, torch.dtype):
                kept.append(place)
        result: Tensor = tensor.to(*kept) if kept else tensor
        if (target == OTHER) != self.holds(tensor) and result is tensor:
            result = tensor.clone()
        if target == OTHER:
            self._mark(result)
        return result

    def _mark(self, result: Any) -> None:
        for tensor in _tensors(result):
            with torch._C.DisableTorchFunction():
                storage = tensor.untyped_storage()
            self._storages[storage._cdata] = storage


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
