"""One try of a call at an OpenAI-compatible endpoint, through the `openai` client library.

Covered: a deadline that holds whatever the server does, for which every try has a connection of its own; a key that goes to this
endpoint alone, and keys of the environment that do not. Failures are values: an error would drag a request along, and
with it the key. Not covered: another try, see `openai`; how large an answer a server sends.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import closing
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cuda_gym.errors import MissingTool, ModelUnavailable
from cuda_gym.models.chat_protocol import (
    Piece,
    Reply,
    read_piece,
    read_reply,
    read_usage,
    real_text,
)
from cuda_gym.models.deadline import Deadline
from cuda_gym.models.endpoint_failures import Failure, Place, failure_of
from cuda_gym.models.model import Usage

if TYPE_CHECKING:
    import openai

__all__ = ["Endpoint"]

_CONNECT_S = 10.0
_LONGEST_S = 1e6  # more than a socket can wait is an error
_DEADLINE: ContextVar[Deadline] = ContextVar("deadline")


class Endpoint:
    """Where a model is served. Safe to use from several threads.

    Args:
        place: As messages tell it.
        address: The whole of it.
        attempt_timeout_s: Of one try; None leaves it all that is left.
    """

    def __init__(self, place: Place, address: str, attempt_timeout_s: float | None) -> None:
        self.place = place
        self._address = address
        self._attempt_timeout_s = attempt_timeout_s
        self._opening = threading.Lock()
        self._client: openai.OpenAI | None = None

    def client(self) -> openai.OpenAI:
        """The client library's, made when it is first asked for.

        Raises:
            MissingTool: the package `openai` is not installed.
        """
        with self._opening:
            if self._client is None:
                self._client = _open(self._address, self.place.key or "none")
            return self._client

    def whole(self, request: Mapping[str, Any], deadline: Deadline) -> Reply | Failure:
        """One try of a whole answer; failures are values, so that no error drags another one's request along."""
        import openai

        followed = _DEADLINE.set(deadline)
        try:
            response = self.client().chat.completions.with_raw_response.create(
                **request, timeout=self._timeout(deadline)
            )
        except openai.OpenAIError as error:
            return failure_of(error, self.place)
        finally:
            _DEADLINE.reset(followed)
        body: object = None
        try:
            body = json.loads(response.http_response.text)
            return read_reply(body)
        except (ValueError, RecursionError) as error:
            return replace(failure_of(error, self.place), usage=read_usage(body))

    def streamed(
        self, request: Mapping[str, Any], deadline: Deadline
    ) -> Generator[str | Reply | Failure]:
        """One try of a stream: its text as it comes, then the whole of it or why there is none."""
        arriving = _Arriving()
        with closing(self._pieces(request, deadline)) as pieces:
            for piece in pieces:
                if text := arriving.take(piece):
                    yield text
        yield arriving.reply()

    def close(self) -> None:
        """Let go of the client; the next call makes it anew. No connection outlives its call anyway."""
        with self._opening:
            self._client = None

    def _pieces(self, request: Mapping[str, Any], deadline: Deadline) -> Generator[Piece | Failure]:
        """A failure is the last."""
        import openai

        followed = _DEADLINE.set(deadline)
        failure: Failure | None = None
        try:
            events = self.client().chat.completions.create(
                **request, timeout=self._timeout(deadline)
            )
        except openai.OpenAIError as error:
            failure = failure_of(error, self.place)
        finally:
            _DEADLINE.reset(followed)
        if failure is not None:
            yield failure
            return
        from_below = _http_error(events.response)
        with events:
            while True:
                try:
                    event = next(events, None)
                    piece = None if event is None else read_piece(_plain(event))
                except (openai.OpenAIError, from_below, ValueError, RecursionError) as error:
                    failure = failure_of(error, self.place)
                if failure is not None or piece is None:
                    break
                yield piece
        if failure is not None:
            yield failure

    def _timeout(self, deadline: Deadline) -> openai.Timeout:
        """Of one attempt: at least a little, for a deadline that is over ends it anyway."""
        import openai

        left_s = min(max(0.001, deadline.left_s), _LONGEST_S)
        whole_s = (
            left_s if self._attempt_timeout_s is None else min(left_s, self._attempt_timeout_s)
        )
        return openai.Timeout(whole_s, connect=min(whole_s, _CONNECT_S))


class _Arriving:
    """A streamed answer so far."""

    def __init__(self) -> None:
        self.text = ""
        self._half = ""
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._failure: Failure | None = None

    def take(self, piece: Piece | Failure) -> str:
        """The text that a piece brings; the first half of a character waits for the second."""
        if isinstance(piece, Failure):
            self._failure = piece
            return ""
        self._finish_reason = piece.finish_reason or self._finish_reason
        self._usage = piece.usage or self._usage
        come = self._half + piece.text
        self._half = come[-1:] if "\ud800" <= come[-1:] <= "\udbff" else ""
        text = real_text(come.removesuffix(self._half))
        self.text += text
        return text

    def reply(self) -> Reply | Failure:
        """The whole, if it came to its end; what fails after that costs the usage at most."""
        if self._finish_reason is not None:
            return Reply(
                text=self.text,
                tool_calls=(),
                finish_reason=self._finish_reason,
                usage=self._usage,
            )
        failure = self._failure or Failure(
            kind=ModelUnavailable,
            fact="the stream ended before the answer did",
            remedy="See whether the server streams as OpenAI's does, or ask without a stream.",
            is_passing=True,
        )
        return replace(failure, usage=failure.usage or self._usage)


def _http_error(response: object) -> type[Exception]:
    """Of the HTTP library below, which is another one by version; 2.0 lets it through from a stream."""
    below = sys.modules[type(response).__module__.partition(".")[0]]
    error: type[Exception] = below.HTTPError
    return error


def _plain(event: Any) -> object:
    """As it was sent: the library makes objects of what fits only."""
    return event.to_dict(warnings=False) if hasattr(event, "to_dict") else event


def _open(address: str, key: str) -> openai.OpenAI:
    try:
        import openai
    except ModuleNotFoundError as error:
        raise MissingTool(
            "The package `openai` is not installed, which talks to endpoints of models: "
            "`pip install 'cuda-gym[llm]'`."
        ) from error
    client = openai.OpenAI(
        api_key=key,
        base_url=address,
        max_retries=0,  # its own would not keep to the limits
        # The header is also said here, since an environment variable may hold another one.
        default_headers={"Authorization": f"Bearer {key}", "Connection": "close"},
        http_client=_http_client(),
    )
    # They come from the environment too, and are OpenAI's alone to know.
    client.organization = client.project = None
    return client


@functools.cache
def _http_client() -> Any:
    """One for all models, since reading the certificates takes a while; it keeps no connections."""
    import openai

    return openai.DefaultHttpxClient(
        follow_redirects=False, event_hooks={"request": [_be_followed]}
    )


def _be_followed(request: Any) -> None:
    """Tell the deadline of this call which connection it has."""
    request.extensions = {**request.extensions, "trace": _DEADLINE.get().follow}
