"""What a server needs of a mixture, from a script; a server that is ended by its test; and a client of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import openai

from cuda_gym.agents.route_moa.answers import Answer, Belief, LayerRecord, Proposal, Route
from cuda_gym.agents.route_moa.bill import Bill, line_of
from cuda_gym.agents.route_moa.serving.request import ChatRequest
from cuda_gym.agents.route_moa.serving.server import ChatServer
from cuda_gym.agents.route_moa.serving.service import Service
from cuda_gym.errors import CudaGymError
from cuda_gym.models.model import Completion, Usage

__all__ = ["Scripted", "answer_of", "client_of", "serving"]


def answer_of(text: str, *, is_cut: bool = False) -> Answer:
    """An answer of two calls, of which the first one's stands."""
    usages = (
        Usage(prompt_tokens=10, completion_tokens=3),
        Usage(prompt_tokens=20, completion_tokens=5),
    )
    completions = [
        Completion(model=name, text=text, usage=usage, latency_s=0.5, cost_usd=0.25)
        for name, usage in zip(("small", "large"), usages, strict=True)
    ]
    proposals = tuple(
        Proposal(
            model=each.model,
            layer=0,
            text=text,
            self_score=None,
            peer_scores=(),
            completion=each,
        )
        for each in completions
    )
    beliefs = {each.model: Belief(mean=0.75, weight=1.0) for each in completions}
    layer = LayerRecord(
        chosen=("small", "large"),
        proposals=proposals,
        failed={},
        judge=None,
        beliefs=beliefs,
        latency_s=0.5,
    )
    bill = Bill(lines=tuple(line_of(each, "proposer") for each in completions))
    return Answer(
        text=text,
        is_cut=is_cut,
        route=Route(
            prior=beliefs,
            layers=(layer,),
            exit="unanimity",
            aggregator=None,
            bill=bill,
            latency_s=0.5,
        ),
    )


@dataclass
class Scripted:
    """Answers every query alike, perhaps after a wait for its end or for a stop."""

    text: str = "Paris"
    fails: BaseException | None = None
    waits: threading.Event | None = None
    """Before it answers."""
    fails_late: CudaGymError | None = None
    """Between two pieces."""
    asked: list[ChatRequest] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    was_stopped: threading.Event = field(default_factory=threading.Event)

    def open(self, request: ChatRequest, stop: threading.Event) -> Scripted:
        self.asked.append(request)
        self._stop = stop
        return self

    def answer(self, query: str) -> Answer:
        self.heard.append(query)
        self.begun.set()
        while self.waits is not None and not self.waits.wait(0.01):
            if self._stop.is_set():
                self.was_stopped.set()
                break
        if self.fails is not None:
            raise self.fails
        return answer_of(self.text)

    def stream(self, query: str) -> Iterator[str | Answer]:
        answer = self.answer(query)
        half = len(self.text) // 2
        yield self.text[:half]
        if self.fails_late is not None:
            raise self.fails_late
        yield self.text[half:]
        yield answer


@contextmanager
def client_of(server: ChatServer, *, key: str = "any") -> Iterator[openai.OpenAI]:
    """Of a server without TLS, so that the client need not read the certificates of this machine."""
    http = openai.DefaultHttpxClient(verify=False)
    with openai.OpenAI(
        base_url=server.url, api_key=key, max_retries=0, timeout=20, http_client=http
    ) as client:
        yield client


@contextmanager
def serving(open_mixture: Callable[..., Any], **how: Any) -> Iterator[ChatServer]:
    """Serve on a free port; at the end no thread of it is left."""
    server = ChatServer(Service(open_mixture, **how))
    thread = threading.Thread(target=server.serve_forever, args=(0.002,))  # it ends so much later
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.close()
