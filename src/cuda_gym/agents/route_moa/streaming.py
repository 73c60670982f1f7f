"""One call that is streamed, of the best model that answers.

Covered: a model that fails before its first word, or says nothing, is replaced by the next in rank, and so is one that
does not keep its time limit; white space before the first word is left out; scores are taken off, see `scoreless`; every
call is billed, one that broke off with what it had said; a call that nobody reads any more is ended.
Not covered: a model that breaks off after its first word; that is an error. How a model that hangs is ended, see `feed`.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from cuda_gym.agents.route_moa.answers import NoAnswer
from cuda_gym.agents.route_moa.bill import BilledFor, BillLine, line_of
from cuda_gym.agents.route_moa.calls import GRACE_S, NOTHING, usage_of
from cuda_gym.agents.route_moa.feed import Feed, NothingYet
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.prompts import most_tokens
from cuda_gym.agents.route_moa.scoreless import Scoreless
from cuda_gym.errors import ModelError, ModelUnavailable
from cuda_gym.models.model import Completion, Limits, Usage

__all__ = ["stream_one"]


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
        limits = call.within(ledger.left.usd, ledger.left.seconds)
        started = time.perf_counter()
        try:
            with closing(_pieces(call, limits, heard)) as pieces:
                for item in pieces:
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
            failed = _failed(call, error, "".join(heard))
            ledger.add(failed)
            if error.may_have_used_more:
                ledger.hold(call.cost_usd(limits.max_tokens) - failed.cost_usd)
            if said:
                raise NoAnswer(
                    f"{call.entry.name} broke off after {len(''.join(said)):,} characters: {error}",
                    ledger.bill,
                ) from error


def _pieces(call: Call, limits: Limits, heard: list[str]) -> Generator[str | Completion]:
    """Of one call, from the first word on, and then its completion; whatever arrives is added to what was heard."""
    reply = Scoreless()
    has_begun = False
    with closing(_in_time(call, limits)) as items:
        for item in items:
            if isinstance(item, str):
                heard.append(item)
                text = reply.add(item)
            else:
                text = reply.rest()
            if text := text if has_begun else text.lstrip():
                has_begun = True
                yield text
            if isinstance(item, Completion):
                yield item
                return
    raise ModelUnavailable(
        f"{call.entry.name} ended its stream without a Completion, so that nobody knows whether that was all; "
        "the stream of a Model ends with one."
    )


def _in_time(call: Call, limits: Limits) -> Generator[str | Completion]:
    """What a call gives, as long as it keeps its time limit."""
    end = time.perf_counter() + limits.timeout_s + GRACE_S
    feed = Feed(
        lambda: call.model.stream(call.prompt.messages, limits=limits),
        name=f"route_moa streams {call.entry.name}",
    )
    try:
        while (item := feed.next(end - time.perf_counter())) is not None:
            yield item
    except NothingYet:
        late = ModelUnavailable(
            f"it was not done in {limits.timeout_s:.1f} s, and did not end either"
        )
        late.latency_s, late.may_have_used_more = limits.timeout_s, True
        raise late from None
    finally:
        feed.end(GRACE_S)


def _failed(call: Call, error: ModelError, heard: str) -> BillLine:
    usage = usage_of(error)
    if usage == NOTHING and (heard.strip() or error.may_have_used_more):
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
