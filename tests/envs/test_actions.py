from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.envs.actions import HOW_TO_ACT, FileWrite, ToolCall, format_action, parse_action
from cuda_gym.errors import BadAction

CALL = '{"name": "verify", "arguments": {"check": "memory"}}'
VERIFY = ToolCall("verify", {"check": "memory"})


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  \n{CALL}\n ",
        f"I will verify now.\n```json\n{CALL}\n```\nDone.",
        f"```\n{CALL}\n```",
        f"Thinking...\n<tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}\n",
        f"Here it is:\n{CALL}\nand prose after it.",
        '{"type": "function", "function": {"name": "verify", "arguments": "{\\"check\\": \\"memory\\"}"}}',
        '{"tool_calls": [{"function": {"name": "verify", "arguments": {"check": "memory"}}}]}',
        '{"name": "verify", "input": {"check": "memory"}}',
        '{"name": "verify", "parameters": {"check": "memory"}}',
    ],
)
def test_every_usual_form_of_a_call_is_read(text: str) -> None:
    assert parse_action(text).call == VERIFY
    assert parse_action(text).notes == ()


def test_files_come_in_order_and_the_call_after_them() -> None:
    text = (
        "First the kernel.\n```cuda file=kernels/a.cu\n__global__ void k() {}\n```\nThen Python:\n"
        f"```python file='model_new.py'\nx = 1\n```\n```json\n{CALL}\n```\n"
    )
    parsed = parse_action(text)
    assert parsed.writes == (
        FileWrite("kernels/a.cu", "__global__ void k() {}\n"),
        FileWrite("model_new.py", "x = 1\n"),
    )
    assert parsed.call == VERIFY


def test_files_alone_are_an_action() -> None:
    parsed = parse_action("```cpp file=kernels/a.h\n#pragma once\n```")
    assert parsed.call is None
    assert parsed.writes[0].path == "kernels/a.h"


def test_of_several_calls_the_first_counts_and_the_agent_is_told() -> None:
    parsed = parse_action(
        f'<tool_call>{CALL}</tool_call><tool_call>{{"name": "submit"}}</tool_call>'
    )
    assert parsed.call == VERIFY
    assert "submit" in parsed.notes[0]


def test_a_block_that_is_not_closed_is_not_written_half() -> None:
    with pytest.raises(BadAction, match="cut short"):
        parse_action("```cuda file=kernels/a.cu\n__global__ void k(")


def test_a_broken_call_beside_a_file_is_told_and_the_file_written() -> None:
    parsed = parse_action('```cuda file=kernels/a.cu\n```\n```json\n{"name": \n```')
    assert len(parsed.writes) == 1
    assert "cannot be read" in parsed.notes[0]


def test_raw_line_breaks_inside_json_strings_are_read() -> None:
    parsed = parse_action(
        '{"name": "write_file", "arguments": {"path": "a", "content": "x\n```\ny"}}'
    )
    assert parsed.call is not None
    assert parsed.call.arguments["content"] == "x\n```\ny"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{}",
        "[]",
        "null",
        '{"name": 3}',
        '{"name": "x", "arguments": [1]}',
        '"name"',
        "```json\n{",
    ],
)
def test_what_cannot_be_read_is_answered_with_both_right_forms(text: str) -> None:
    with pytest.raises(BadAction) as caught:
        parse_action(text)
    assert HOW_TO_ACT in str(caught.value)
    assert len(str(caught.value)) < 2000


def test_the_two_forms_that_are_shown_are_right() -> None:
    call, files = HOW_TO_ACT.split("Form 2", 1)
    assert parse_action(call).call == ToolCall("read_file", {"path": "model.py"})
    parsed = parse_action(files)
    assert [write.path for write in parsed.writes] == ["kernels/scale.cu", "model_new.py"]
    assert parsed.call == ToolCall("compile")


marks = st.sampled_from(
    [
        "```",
        "````",
        "\n",
        "<tool_call>",
        "</tool_call>",
        "{",
        "}",
        '"name"',
        ": ",
        '"x"',
        "file=",
        "json",
        "[",
        ",",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(marks | st.text(max_size=5), max_size=40).map("".join))
def test_no_text_raises_anything_but_bad_action(text: str) -> None:
    try:
        parsed = parse_action(text)
    except BadAction:
        return
    assert parsed.call is not None or parsed.writes


paths = st.from_regex(r"[a-z_][a-z_0-9. /]{0,20}[a-z]\.(cu|cuh|h|py)", fullmatch=True)
contents = st.text(st.characters(exclude_categories=["Cs"]), max_size=80).map(
    lambda t: t and t + "\n"
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(paths, contents, min_size=1, max_size=4),
    st.none()
    | st.builds(
        ToolCall, st.text(max_size=20), st.dictionaries(st.text(max_size=8), values, max_size=3)
    ),
)
def test_what_is_written_is_read_back(files: dict[str, str], call: ToolCall | None) -> None:
    parsed = parse_action(format_action(files, call))
    assert {write.path: write.content for write in parsed.writes} == files
    assert parsed.call == call
    assert parsed.notes == ()


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200), st.text(max_size=30))
def test_a_plain_json_call_is_read_whatever_its_content(content: str, name: str) -> None:
    text = json.dumps({"name": name, "arguments": {"content": content}})
    assert parse_action(text).call == ToolCall(name, {"content": content})


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "`",
        "```\n",
        "{",
        "[",
        '{"name"\n',
        "<tool_call>",
        " ",
        "````\n```\n",
        '<tool_call>{"name": "x</tool_call>',
        '{"a":',
    ],
)
def test_ten_megabytes_of_anything_are_answered(piece: str) -> None:
    with pytest.raises(BadAction) as caught:
        parse_action(piece * (10_000_000 // len(piece)))
    assert len(str(caught.value)) < 2000
