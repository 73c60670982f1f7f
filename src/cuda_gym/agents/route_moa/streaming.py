"""One call that is streamed, of the best model that answers.

Covered: a model that fails before its first word, or says nothing, is replaced by the next in rank; white space
before the first word is left out; every call is billed, one that broke off with what it had said.
Not covered: a model that breaks off after its first word; that is an error.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from cuda_gym.agents.route_moa.bill import BilledFor, BillLine, line_of
from cuda_gym.agents.route_moa.calls import NOTHING, NoAnswer, usage_of
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.prompts import most_tokens
from cuda_gym.errors import ModelError
from cuda_gym.models.model import Completion, Usage

__all__ = ["stream_one"]


def stream_one(
    calls: Iterable[Call], *, ledger: Ledger, billed_for: BilledFor
) -> Iterator[str | Completion]:
    """Pieces of the first answer by rank that fits into what is left, then its completion; or nothing.

    Raises:
        NoAnswer: it broke off in the middle.
    """
    for call in calls:
        if not call.fits(ledger.left):
            continue
        said: list[str] = []
        started = time.perf_counter()
        try:
            for item in _pieces(call, ledger):
                if isinstance(item, Completion):
                    ledger.pass_time(item.latency_s)
                    ledger.add(line_of(item, billed_for if said else "failed"))
                    if said:
                        yield item
                        return
                    break
                said.append(item)
                yield item
        except ModelError as error:
            measured_s = time.perf_counter() - started
            ledger.pass_time(measured_s if error.latency_s is None else error.latency_s)
            ledger.add(_failed(call, error, "".join(said)))
            if said:
                raise NoAnswer(
                    f"{call.entry.name} broke off after {len(''.join(said)):,} characters: {error}",
                    ledger.bill,
                ) from error


def _pieces(call: Call, ledger: Ledger) -> Iterator[str | Completion]:
    """Of one call, from the first word on."""
    left = ledger.left
    begun = False
    limits = call.within(left.usd, left.seconds)
    for item in call.model.stream(call.prompt.messages, limits=limits):
        if isinstance(item, Completion):
            yield item
            return
        piece = item if begun else item.lstrip()
        if piece:
            begun = True
            yield piece


def _failed(call: Call, error: ModelError, said: str) -> BillLine:
    usage = usage_of(error)
    if said and usage == NOTHING:
        usage = Usage(
            prompt_tokens=call.prompt.tokens,
            completion_tokens=most_tokens(said),
        )
    return BillLine(
        model=call.entry.name,
        billed_for="failed",
        usage=usage,
        cost_usd=call.entry.prices.cost_usd(usage),
    )
