"""What processes say to each other: typed, versioned messages as JSON. Standard library only.

A message is `{"v": 1, "type": name, ...fields}`; `channel` carries it in frames. Nothing is ever
unpickled.

Covered: bytes that are no JSON, of an unknown type or version, with a field missing, left over, of
a wrong type or not finite raise `ProtocolError`. Whoever holds the other end decides whose fault that is: on a candidate's channel
it is the candidate's.

Not covered: whether what a candidate says is true. Its reports are claims.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from cuda_gym.judge.sandbox.messages import CodeRange, KernelClaim, Message, RegionSpec, TensorSpec

VERSION = 1


class ProtocolError(Exception):
    """The other side said something that is not in the protocol."""


_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Message)}
_PARTS = (TensorSpec, RegionSpec, KernelClaim, CodeRange)
"""What stands inside messages."""
_HINTS = {kind: get_type_hints(kind) for kind in (*_TYPES.values(), *_PARTS)}


def encode(message: Message) -> bytes:
    """A message as UTF-8 JSON.

    >>> from cuda_gym.judge.sandbox.messages import Reply
    >>> encode(Reply(value=3))
    b'{"v": 1, "type": "Reply", "value": 3}'
    """
    plain = {"v": VERSION, "type": type(message).__name__, **_plain_fields(message)}
    return json.dumps(plain, allow_nan=False).encode()


def decode(body: bytes, expected: tuple[type[Any], ...]) -> Any:
    """The message in a frame, if it is one of the expected types and wholly in order.

    Raises:
        ProtocolError: saying what is not.
    """
    try:
        plain = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"A message that is no JSON: {error}.") from error
    if not isinstance(plain, dict) or plain.pop("v", None) != VERSION:
        raise ProtocolError(f"A message that is not of protocol version {VERSION}.")
    kind = _TYPES.get(str(plain.pop("type", None)))
    if kind is None or kind not in expected:
        names = " or ".join(t.__name__ for t in expected)
        raise ProtocolError(f"{names} was due; {kind.__name__ if kind else 'something else'} came.")
    return _read_dataclass(kind, plain)


def _refuse_constant(name: str) -> float:
    raise ProtocolError(f"{name} is no number that is sent here.")


def _plain_fields(value: Any) -> dict[str, Any]:
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, _PARTS):
        return _plain_fields(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _read_dataclass(kind: type[Any], plain: Any) -> Any:
    hints = _HINTS[kind]
    if not isinstance(plain, dict) or plain.keys() != hints.keys():
        raise ProtocolError(f"{kind.__name__} has the fields {sorted(hints)}.")
    return kind(**{name: _read(hint, plain[name], name) for name, hint in hints.items()})


def _read(hint: Any, value: Any, name: str) -> Any:
    """`value` as the annotated type, or ProtocolError."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin in (types.UnionType, Union):
        inner = next(arg for arg in get_args(hint) if arg is not type(None))
        return None if value is None else _read(inner, value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(get_args(hint)[0], item, name) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(get_args(hint)[1], item, name) for key, item in value.items()}
    if hint in _PARTS:
        return _read_dataclass(hint, value)
    if isinstance(hint, type) and type(value) is hint:
        if isinstance(value, float) and not math.isfinite(value):
            raise ProtocolError(f"{name} is not finite.")
        # Half a surrogate pair is JSON, but no text that a file or a terminal takes.
        return value.encode(errors="replace").decode() if isinstance(value, str) else value
    raise ProtocolError(f"{name} is no {getattr(hint, '__name__', hint)}: {str(value)[:80]!r}.")


def read_spec(plain: Any) -> TensorSpec:
    """A TensorSpec out of plain JSON.

    Raises:
        ProtocolError: where it is none.
    """
    spec: TensorSpec = _read_dataclass(TensorSpec, plain)
    return spec
