"""Typed Python functions as tools: JSON schemas and checked arguments from one signature.

A tool is a method with annotations and a Google docstring; nothing about it is written twice.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from cuda_gym.errors import BadAction, did_you_mean

__all__ = [
    "arguments_model",
    "call_form",
    "checked_arguments",
    "first_sentence",
    "tool_schema",
]

Function = Callable[..., Any]


def arguments_model(function: Function) -> type[BaseModel]:
    """The arguments of a tool as a pydantic model; unknown ones are forbidden."""
    hints = typing.get_type_hints(function)
    described = _described_arguments(inspect.getdoc(function) or "")
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        required = parameter.default is inspect.Parameter.empty
        default = ... if required else parameter.default
        fields[name] = (hints[name], Field(default, description=described[name]))
    return create_model(
        function.__name__, __config__=ConfigDict(extra="forbid"), __doc__=None, **fields
    )


def tool_schema(function: Function) -> dict[str, Any]:
    """A tool in OpenAI's function format."""
    parameters = arguments_model(function).model_json_schema()
    return {
        "type": "function",
        "function": {
            "name": function.__name__,
            "description": _description(inspect.getdoc(function) or ""),
            "parameters": _plain(parameters),
        },
    }


def checked_arguments(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, coerced where that is safe ("3" for 3).

    Raises:
        BadAction: they do not fit; the message names each, and the signature.
    """
    try:
        return dict(model.model_validate(dict(arguments)))
    except ValidationError as error:
        problems = [_problem(dict(item), model) for item in error.errors(include_url=False)[:5]]
    raise BadAction(f"{' '.join(problems)} The signature is {_signature(model)}.") from None


def call_form(function: Function) -> str:
    """A tool with its arguments, those in brackets with a default; of a choice, the default first.

    >>> def read(path: str, line: int | None = None, kind: Literal["text", "hex"] = "text"): ...
    >>> call_form(read)
    'read(path, [line], [kind: text | hex])'
    """
    hints = typing.get_type_hints(function)
    forms = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        choices = typing.get_args(hints[name]) if _is_choice(hints[name]) else ()
        form = f"{name}: {' | '.join(choices)}" if choices else name
        forms.append(form if parameter.default is inspect.Parameter.empty else f"[{form}]")
    return f"{function.__name__}({', '.join(forms)})"


def first_sentence(function: Function) -> str:
    """The first line of a tool's docstring."""
    return (inspect.getdoc(function) or "").split("\n", 1)[0]


def _is_choice(hint: Any) -> bool:
    return typing.get_origin(hint) is Literal


def _signature(model: type[BaseModel]) -> str:
    schema = model.model_json_schema()
    required = schema.get("required", [])
    names = [name if name in required else f"[{name}]" for name in model.model_fields]
    return f"{model.__name__}({', '.join(names)})"


def _problem(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    name = ".".join(str(part)[:60] for part in error["loc"])
    if error["type"] == "missing":
        return f"{model.__name__} needs the argument {name!r}."
    if error["type"] == "extra_forbidden":
        return f"{model.__name__} has no argument {name!r}.{did_you_mean(name, model.model_fields, most=1)}"
    return f"The argument {name!r} does not fit, got {repr(error['input'])[:60]}: {error['msg']}."


def _description(doc: str) -> str:
    return re.split(r"\n\s*(?:Args|Returns|Raises):", doc, maxsplit=1)[0].strip()


def _described_arguments(doc: str) -> dict[str, str]:
    """The `Args:` section of a Google docstring, by argument."""
    _, _, section = doc.partition("\nArgs:\n")
    section = section.split("\n\n", 1)[0]
    found: dict[str, str] = {}
    name = ""
    for line in section.split("\n"):
        if (match := re.match(r"    (\w+): (.*)", line)) is not None:
            name, found[match[1]] = match[1], match[2]
        elif name:
            found[name] += f" {line.strip()}"
    return found


def _plain(schema: Any) -> Any:
    """Without what pydantic adds and no model needs: titles, and null for what may be left out."""
    if isinstance(schema, dict):
        kept = {k: v for k, v in schema.items() if not (k == "title" and isinstance(v, str))}
        options = [option for option in kept.get("anyOf", ()) if option != {"type": "null"}]
        if len(options) == 1 and kept.get("default", ...) is None:
            del kept["anyOf"], kept["default"]
            kept = {**options[0], **kept}
        return {key: _plain(value) for key, value in kept.items()}
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    return schema
