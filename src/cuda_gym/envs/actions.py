"""What an agent's text means: files to write, then at most one tool call.

Two forms, with prose around them as one likes:

1. A tool call as JSON, `{"name": ..., "arguments": {...}}`: alone, in a json fence, or in
   `<tool_call>` tags. OpenAI's `{"function": {"name": ..., "arguments": "..."}}` is read too.
2. Fenced blocks that name a file, so that code needs no escaping, and an optional call after them.

Covered: reading in one pass, in linear time, whatever the text. Not covered: whether the tool and
its arguments exist (`tools`) and whether the file may be written (`workspace`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from cuda_gym.errors import BadAction

__all__ = ["HOW_TO_ACT", "FileWrite", "ParsedAction", "ToolCall", "format_action", "parse_action"]

HOW_TO_ACT = """\
Form 1, one tool call as JSON:
```json
{"name": "read_file", "arguments": {"path": "model.py"}}
```
Form 2, whole files without escaping, then at most one call:
```cuda file=kernels/scale.cu
extern "C" void scale(float* out, const float* in, int n, cudaStream_t stream) { ... }
```
```python file=model_new.py
class ModelNew(nn.Module): ...
```
```json
{"name": "compile", "arguments": {}}
```"""
"""Both right forms, as the first observation and every unreadable action show them."""

_EVENT = re.compile(r"^[ ]{0,3}(`{3,})([^\n`]*)$|<tool_call>", re.MULTILINE)
_FILE = re.compile(r"""\b(?:file|filename|path)\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|(\S+))""")
_BARE_CALL = re.compile(r'^[ \t]*\{\s{0,99}"(?:name|arguments|function)"', re.MULTILINE)
_MAX_BARE_CALLS = 8
"""How many places in prose are tried as JSON; each costs at most one pass over the text."""
_MAX_PARTS = 1000
"""How many stretches of a text are read: far more than a workspace has files."""
_MAX_PROBLEMS = 4
"""How many sentences about unreadable parts an agent is told."""
_JSON_LANGUAGES = frozenset({"", "json", "tool_call", "tool", "tool_code"})
_DECODER = json.JSONDecoder(strict=False)  # models put raw line breaks into JSON strings


@dataclass(frozen=True)
class FileWrite:
    """A whole file to be written."""

    path: str
    content: str


@dataclass(frozen=True)
class ToolCall:
    """A tool's name and its arguments, not yet checked."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ParsedAction:
    """What one action asks for; the writes come first."""

    writes: tuple[FileWrite, ...] = ()
    call: ToolCall | None = None
    notes: tuple[str, ...] = ()
    """What was ignored, and why: sentences for the next observation."""


def parse_action(text: str) -> ParsedAction:
    """Read an action.

    Raises:
        BadAction: there is neither a file nor a call in it; the message shows both right forms.

    >>> parse_action('I compile. <tool_call>{"name": "compile"}</tool_call>').call
    ToolCall(name='compile', arguments={})
    """
    reading = _Reading()
    whole = text.strip()
    if whole.startswith(("{", "[")) and reading.try_json(whole, quiet=True):
        return reading.result()
    for part in islice(_parts(text), _MAX_PARTS):
        reading.take(part)
    return reading.result()


def format_action(writes: Mapping[str, str] | None = None, call: ToolCall | None = None) -> str:
    r"""The text of an action, in the form that `parse_action` reads back.

    A block ends at a line break, so a file without a last one gains it.

    >>> parse_action(format_action({"kernels/a.cu": "// `\n"}, ToolCall("compile"))).writes
    (FileWrite(path='kernels/a.cu', content='// `\n'),)
    """
    blocks = [_file_block(path, content) for path, content in (writes or {}).items()]
    if call is not None:
        body = json.dumps({"name": call.name, "arguments": call.arguments})
        blocks.append(f"```json\n{body}\n```")
    return "\n".join(blocks)


# The parts of a text


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A stretch of the text between two marks."""

    kind: str
    """`prose`, `fence` or `tag`."""
    body: str
    info: str = ""
    """What stands behind the opening fence."""
    closed: bool = True


def _parts(text: str) -> Iterator[_Part]:
    """Cut a text into prose, fenced blocks and tagged calls. Every character is visited once."""
    position = 0
    while (event := _EVENT.search(text, position)) is not None:
        yield _Part(kind="prose", body=text[position : event.start()])
        if event.group(1) is None:
            end = text.find("</tool_call>", event.end())
            stop = len(text) if end < 0 else end
            yield _Part(kind="tag", body=text[event.end() : stop], closed=end >= 0)
            position = stop + (0 if end < 0 else len("</tool_call>"))
            continue
        fence = re.compile(
            rf"^[ ]{{0,3}}`{{{min(len(event.group(1)), 1000)},}}[ \t\r]*$", re.MULTILINE
        )
        start = min(event.end() + 1, len(text))
        closing = fence.search(text, start)
        stop = len(text) if closing is None else closing.start()
        yield _Part(
            kind="fence",
            body=text[start:stop],
            info=event.group(2).strip(),
            closed=closing is not None,
        )
        position = len(text) if closing is None else closing.end()
    yield _Part(kind="prose", body=text[position:])


class _Reading:
    """What was found so far."""

    def __init__(self) -> None:
        self._writes: list[FileWrite] = []
        self._calls: list[ToolCall] = []
        self._problems: list[str] = []

    def take(self, part: _Part) -> None:
        """Read one part."""
        if part.kind == "tag":
            self.try_json(part.body)
        elif part.kind == "prose":
            self._take_prose(part.body)
        elif (match := _FILE.search(part.info[:1000])) is not None:
            path = next(group for group in match.groups() if group is not None)
            if part.closed:
                self._writes.append(FileWrite(path, part.body))
            else:
                self._problems.append(
                    f"The block of {path[:200]!r} is not closed by ```, so the text was cut short; "
                    "nothing was written there. Send the whole file again, or edit_file in pieces."
                )
        elif part.info.split(" ", 1)[0].lower() in _JSON_LANGUAGES:
            self.try_json(part.body, quiet=part.info == "")

    def _take_prose(self, text: str) -> None:
        position = 0
        for _ in range(_MAX_BARE_CALLS):
            match = _BARE_CALL.search(text, position)
            if match is None:
                return
            start = text.index("{", match.start())
            try:
                value, position = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                position = match.end()
                continue
            self._take_value(value)

    def try_json(self, text: str, *, quiet: bool = False) -> bool:
        """Read a text that should be JSON as a whole; whether it held a call.

        Args:
            text: The JSON.
            quiet: Whether JSON that cannot be read is no problem worth telling.
        """
        try:
            return self._take_value(_DECODER.decode(text.strip()))
        except RecursionError:
            self._problems.append("The JSON is nested too deeply to be a tool call.")
        except ValueError as error:
            if not quiet:
                self._problems.append(f"The JSON of the call cannot be read: {error}.")
        return False

    def _take_value(self, value: Any) -> bool:
        values = value.get("tool_calls", value) if isinstance(value, dict) else value
        calls = [self._call(item) for item in (values if isinstance(values, list) else [values])]
        found = [call for call in calls if call is not None]
        self._calls.extend(found)
        return bool(found)

    def _call(self, value: Any) -> ToolCall | None:
        if not isinstance(value, dict):
            return None
        body = value["function"] if isinstance(value.get("function"), dict) else value
        name = body.get("name")
        if not isinstance(name, str):
            return None
        given = next((body[k] for k in ("arguments", "parameters", "input") if k in body), None)
        if isinstance(given, str):
            try:
                given = _DECODER.decode(given.strip() or "{}")
            except (ValueError, RecursionError):
                given = [given]
        if given is None:
            given = {}
        if not isinstance(given, dict):
            self._problems.append(
                f"The arguments of {name[:60]!r} are no JSON object but {type(given).__name__}; "
                'write them as {"argument": value}.'
            )
            return None
        return ToolCall(name, given)

    def result(self) -> ParsedAction:
        """Everything found.

        Raises:
            BadAction: nothing was.
        """
        if not self._writes and not self._calls:
            problem = (
                " ".join(self._problems[:_MAX_PROBLEMS])
                or "The text holds neither a tool call nor a file."
            )
            raise BadAction(
                f"{problem}\n\nNothing was done. Two forms are understood:\n\n{HOW_TO_ACT}"
            )
        notes = self._problems[:_MAX_PROBLEMS]
        if len(self._calls) > 1:
            ignored = ", ".join(call.name[:60] for call in self._calls[1:6])
            notes.append(
                f"One call a turn: {self._calls[0].name[:60]} was run, the other "
                f"{len(self._calls) - 1} ({ignored}) ignored. Send them in turns of their own."
            )
        return ParsedAction(
            writes=tuple(self._writes),
            call=self._calls[0] if self._calls else None,
            notes=tuple(notes),
        )


def _file_block(path: str, content: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    language = "python" if path.endswith(".py") else "cuda" if path.endswith(".cu") else "cpp"
    name = path if re.fullmatch(r"[^\s\"'`]+", path) else f'"{path}"'
    ending = "" if not content or content.endswith("\n") else "\n"
    return f"{fence}{language} file={name}\n{content}{ending}{fence}"
