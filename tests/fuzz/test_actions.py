"""What an agent says, from its text to the files of its workspace."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.hostile_texts import broken, fuzzed, real_kernels

from cuda_gym.core.task import Submission
from cuda_gym.envs.actions import HOW_TO_ACT, ToolCall, format_action, parse_action
from cuda_gym.envs.workspace import Workspace
from cuda_gym.errors import AgentError, BadAction

LITERALS: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["\ud800", "\0", "../x", "kernels/a.cu", "\u202e"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(["name", "arguments", "parameters", "input", "function", "tool_calls", "x"])
JSON_TEXTS = (
    st.dictionaries(NAMES, LITERALS, max_size=4)
    | st.lists(st.dictionaries(NAMES, LITERALS, max_size=3), max_size=3)
).map(json.dumps)
PARTS = (
    JSON_TEXTS
    | JSON_TEXTS.map(lambda text: f"<tool_call>{text}</tool_call>")
    | JSON_TEXTS.map(lambda text: f"```json\n{text}\n```")
    | st.builds(
        lambda path, text: f"```cuda file={path}\n{text}\n```",
        st.sampled_from(["kernels/a.cu", '"kernels/b c.cu"', "../a", "''", "model.py", "\ud800", "a" * 5000]),
        broken(real_kernels()),
    )
    | broken((HOW_TO_ACT,), python=True)
    | st.text(max_size=30)
)  # fmt: skip
ACTIONS = st.lists(PARTS, max_size=4).map("\n".join)


@fuzzed(200)
@given(ACTIONS)
def test_any_text_is_an_action_or_a_bad_action(text: str) -> None:
    try:
        parsed = parse_action(text)
    except BadAction as error:
        assert HOW_TO_ACT in str(error)  # noqa: PT017 - either way is right
        return
    assert parsed.writes or parsed.call
    assert all(len(note) < 1000 for note in parsed.notes)


@fuzzed(40)
@given(st.lists(ACTIONS, max_size=3))
def test_whatever_is_written_is_a_file_or_an_error_of_the_agent(texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        workspace = Workspace(fixed={}, start=Submission.of({}), path=Path(folder) / "workspace")
        try:
            for text in texts:
                _write(workspace, text)
            assert all(path for path in workspace.freeze().paths)
        finally:
            workspace.close()


def _write(workspace: Workspace, text: str) -> None:
    try:
        for write in parse_action(text).writes:
            workspace.write(write.path, write.content)
    except AgentError as error:
        assert str(error)  # noqa: PT017 - either way is right


@fuzzed(60)
@given(st.dictionaries(st.text(max_size=9), LITERALS, max_size=3), st.text(max_size=20))
def test_a_call_that_is_json_is_read_back(arguments: dict[str, Any], name: str) -> None:
    said = json.loads(json.dumps(arguments))
    call = ToolCall(name, said)
    assert repr(parse_action(format_action(call=call)).call) == repr(call)  # NaN equals nothing
