"""A conversation as a mixture reads it: one text for its models, and what it routes by.

Covered: any roles, and calls of tools that an assistant once made. Not covered: cutting a long one; a mixture refuses
what none of its models can read.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuda_gym.models.model import Message

__all__ = ["last_of", "prompt_of"]


def last_of(messages: Sequence[Message]) -> str:
    """The last message: what is asked now."""
    return messages[-1].content


def prompt_of(messages: Sequence[Message]) -> str:
    """The last message; where there are earlier ones, these under their roles, and then the last.

    >>> prompt_of([Message(role="user", content="Why?")])
    'Why?'
    """
    *earlier, last = messages
    if not earlier:
        return last.content
    told = "\n\n".join(f"[{message.role}]\n{_text(message)}" for message in earlier)
    return f"Earlier in this conversation:\n\n{told}\n\nNow answer this:\n\n{last.content}"


def _text(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return "\n".join([message.content, *calls]).strip() if calls else message.content
