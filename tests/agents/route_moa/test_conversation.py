"""What of a conversation the models of a mixture read."""

from __future__ import annotations

from cuda_gym.agents.route_moa.conversation import last_of, prompt_of
from cuda_gym.models.model import Message, ToolCall


def test_earlier_messages_stand_under_their_roles_before_the_last() -> None:
    messages = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="Of Italy?"),
        Message(role="assistant", content="Rome."),
        Message(role="user", content="Of France?"),
    )
    assert prompt_of(messages) == (
        "Earlier in this conversation:\n\n[system]\nBe brief.\n\n[user]\nOf Italy?\n\n[assistant]\nRome."
        "\n\nNow answer this:\n\nOf France?"
    )
    assert last_of(messages) == "Of France?"


def test_calls_of_tools_that_were_made_are_told() -> None:
    call = ToolCall(id="1", name="compile", arguments='{"file": "a.cu"}')
    messages = (
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="error: line 3", tool_call_id="1"),
    )
    assert '[assistant]\ncompile({"file": "a.cu"})\n' in prompt_of(messages)
    assert prompt_of(messages).endswith("error: line 3")
