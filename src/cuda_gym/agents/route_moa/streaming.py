"""One call that is streamed, of the best model that answers.

Covered: a model that fails before its first word, or says nothing, is replaced by the next in rank; white space
before the first word is left out; a reply that begins as JSON is held back to its end, for it may have scores that are
to be taken off; every call is billed, one that broke off with what it had said.
Not covered: a model that breaks off after its first word; that is an error. Scores after prose: what came before
them was passed on already.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cuda_gym.agents.route_moa.bill import BilledFor, BillLine, line_of
from cuda_gym.agents.route_moa.calls import NOTHING, NoAnswer, usage_of
from cuda_gym.agents.route_moa.crew import plain_answer
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.prompts import most_tokens
from cuda_gym.errors import ModelError
from cuda_gym.models.model import Completion, Usage

__all__ = ["stream_one"]

_JSON = ("{", "```json")
"""How a reply begins that may have an answer and scores."""


def stream_one(
    calls: Iterable[Call], *, ledger: Ledger, billed_for: BilledFor
) -> Iterator[str | Completion]:
    """Pieces of the first answer by rank that fits into what is left, then its completion; or nothing.

    The completion's text is what the pieces are together.

    Raises:
        NoAnswer: it broke off in the middle.
    """
    for call in calls:
        if not call.fits(ledger.left):
            continue
        heard: list[str] = []
        said: list[str] = []
        started = time.perf_counter()
        try:
            for item in _pieces(call, ledger, heard):
                if isinstance(item, Completion):
                    ledger.pass_time(item.latency_s)
                    ledger.add(line_of(item, billed_for if said else "failed"))
                    if said:
                        yield replace(item, text="".join(said))
                        return
                    break
                said.append(item)
                yield item
        except ModelError as error:
            measured_s = time.perf_counter() - started
            ledger.pass_time(measured_s if error.latency_s is None else error.latency_s)
            ledger.add(_failed(call, error, "".join(heard)))
            if said:
                raise NoAnswer(
                    f"{call.entry.name} broke off after {len(''.join(said)):,} characters: {error}",
                    ledger.bill,
                ) from error


def _pieces(call: Call, ledger: Ledger, heard: list[str]) -> Iterator[str | Completion]:
    """Of one call, from the first word on, and then its completion; whatever arrives is added to what was heard."""
    left = ledger.left
    held = ""
    is_held = True
    limits = call.within(left.usd, left.seconds)
    for item in call.model.stream(call.prompt.messages, limits=limits):
        if isinstance(item, Completion):
            if held and (answer := plain_answer(held)):
                yield answer
            yield item
            return
        heard.append(item)
        if not is_held:
            yield item
            continue
        held = (held + item).lstrip()
        is_held = any(held.startswith(start) or start.startswith(held) for start in _JSON)
        if not is_held:
            yield held
            held = ""


def _failed(call: Call, error: ModelError, heard: str) -> BillLine:
    usage = usage_of(error)
    if heard.strip() and usage == NOTHING:
        usage = Usage(
            prompt_tokens=call.prompt.tokens,
            completion_tokens=most_tokens(heard),
        )
    return BillLine(
        model=call.entry.name,
        billed_for="failed",
        usage=usage,
        cost_usd=call.entry.prices.cost_usd(usage),
    )
