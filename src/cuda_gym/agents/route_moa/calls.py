"""Calls of several models side by side: in time, within a budget, each of them billed.

Covered: a call that fails, says nothing or comes late is no answer, and the next model in rank is asked
at once; no call is made that is not expected to fit into what is left, and none may write more tokens
than that pays for; results and bill lines are in the order of rank, whoever was first.
Calls that nobody waits for any more, since they are late or since an error ended the layer, are ended.
Not covered: what such a call cost, which nobody knows: the bill has its prompt, the budget its most. How a model that
hangs is ended, see `underway`.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from cuda_gym.agents.route_moa.bill import BilledFor, BillLine
from cuda_gym.agents.route_moa.latency import TimedCall, layer_s
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.ranking import Budget
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.agents.route_moa.underway import Underway
from cuda_gym.errors import ModelError, ModelUnavailable
from cuda_gym.models.model import Completion, Limits, Usage

__all__ = ["GRACE_S", "NOTHING", "Called", "call_side_by_side", "usage_of"]

NOTHING = Usage(prompt_tokens=0, completion_tokens=0)
"""What a call used that was refused."""

GRACE_S = 0.1
"""A model ends its call in time and says why; only one that does not is left behind. So long its end is waited for, too."""


def usage_of(error: ModelError) -> Usage:
    """What a failed call used: where its error does not know, it is taken for refused."""
    return error.usage or NOTHING


@dataclass(frozen=True, kw_only=True)
class Called:
    """What calls side by side gave."""

    completions: tuple[Completion, ...]
    """Answers, by rank."""
    calls: tuple[Call, ...]
    """Which gave them, one for each."""
    failed: dict[str, str]
    """Models that gave nothing, by rank, and why."""
    latency_s: float
    """Until the last answer, of calls side by side and of those that took the place of a failed one."""
    too_dear: tuple[str, ...]
    """Models that were not called because they did not fit into the budget, by rank."""


def call_side_by_side(
    calls: Iterable[Call],
    *,
    wanted: int,
    ledger: Ledger,
    roster: Roster,
    billed_for: BilledFor = "proposer",
    answer_in: Callable[[str], str] = str.strip,
) -> Called:
    """Ask the first models until as many answers are there as are wanted, or nobody is left to ask.

    Args:
        calls: By rank: the first are made at once, each further one in the place of one that failed,
            and drawn only then.
        wanted: Answers, at least one.
        ledger: Pays; its time goes on by the latency.
        roster: Says which calls queue at one endpoint.
        billed_for: What is written on the bill for calls that answered.
        answer_in: The answer in a reply; where it is empty, the call counts as failed.
    """
    with _Asking(iter(calls), wanted, ledger, roster, answer_in) as asking:
        asking.start(wanted)
        while asking.running:
            asking.start(asking.collect())
    outcomes = asking.in_rank
    ledger.add(*(outcome.line(billed_for) for outcome in outcomes))
    ledger.hold(sum(outcome.unknown_usd for outcome in outcomes))
    latency_s = _latency_s(outcomes, wanted, roster)
    ledger.pass_time(latency_s)
    answered = [o for o in outcomes if not o.failure]
    return Called(
        completions=tuple(o.completion for o in answered if o.completion),
        calls=tuple(o.call for o in answered),
        failed={o.call.entry.name: o.failure for o in outcomes if o.failure},
        latency_s=latency_s,
        too_dear=tuple(asking.too_dear),
    )


@dataclass(frozen=True, kw_only=True)
class _Running:
    """A call under way."""

    rank: int
    call: Call
    limits: Limits
    underway: Underway
    held_usd: float
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds_left(self) -> float:
        """Until it is left behind."""
        return self.started + self.limits.timeout_s + GRACE_S - time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """How a call ended."""

    call: Call
    completion: Completion | None = None
    usage: Usage = NOTHING
    """Of a call without completion, as far as it is known."""
    failure: str = ""
    latency_s: float
    unknown_usd: float = 0.0
    """What it may have cost beyond its line on the bill."""

    @property
    def cost_usd(self) -> float:
        """As far as it is known."""
        if self.completion is not None:
            return self.completion.cost_usd
        return self.call.entry.prices.cost_usd(self.usage)

    def line(self, billed_for: BilledFor) -> BillLine:
        """On the bill."""
        return BillLine(
            model=self.call.entry.name,
            billed_for="failed" if self.failure else billed_for,
            usage=self.completion.usage if self.completion else self.usage,
            cost_usd=self.cost_usd,
        )


class _Asking:
    """Calls under way, and those that wait for one to fail."""

    def __init__(
        self,
        waiting: Iterator[Call],
        wanted: int,
        ledger: Ledger,
        roster: Roster,
        answer_in: Callable[[str], str],
    ) -> None:
        self._waiting = enumerate(waiting)
        self._wanted = wanted
        self._ledger = ledger
        self._roster = roster
        self._answer_in = answer_in
        self._begun: list[Underway] = []
        self._held_usd = 0.0
        self._outcomes: dict[int, _Outcome] = {}
        self.running: dict[Future[Completion], _Running] = {}
        self.too_dear: list[str] = []

    def __enter__(self) -> _Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._ledger.hold(-self._held_usd)
        for running in self.running.values():
            running.underway.end()
        end = time.perf_counter() + GRACE_S
        for underway in self._begun:
            underway.join(max(0.0, end - time.perf_counter()))

    @property
    def in_rank(self) -> list[_Outcome]:
        """Of the calls that ended."""
        return [self._outcomes[rank] for rank in sorted(self._outcomes)]

    def start(self, wanted: int) -> None:
        """Begin so many of the calls that wait, the best that fit into what is left."""
        left = self._left()
        batch: list[tuple[int, Call]] = []
        expected_usd = 0.0
        while len(batch) < wanted and (following := next(self._waiting, None)):
            rank, call = following
            if call.fits(left, taken_usd=expected_usd):
                batch.append((rank, call))
                expected_usd += call.expected_usd
            else:
                self.too_dear.append(call.entry.name)
        for rank, call in batch:
            share = None if left.usd is None else left.usd * call.expected_usd / expected_usd
            self._submit(rank, call, call.within(share, left.seconds))

    def _left(self) -> Budget:
        """What may be spent; of the time, what the calls that ended leave to those in their places."""
        left = self._ledger.left
        if left.seconds is None:
            return left
        return replace(
            left, seconds=left.seconds - _latency_s(self.in_rank, self._wanted, self._roster)
        )

    def _submit(self, rank: int, call: Call, limits: Limits) -> None:
        held_usd = call.cost_usd(limits.max_tokens)
        self._hold(held_usd)
        underway = Underway(call, limits)
        self._begun.append(underway)
        self.running[underway.future] = _Running(
            rank=rank, call=call, limits=limits, underway=underway, held_usd=held_usd
        )

    def collect(self) -> int:
        """Wait for the next call to end, or to be late; say how many failed."""
        soonest_s = min(running.seconds_left for running in self.running.values())
        done, _ = wait(self.running, timeout=max(0.0, soonest_s), return_when=FIRST_COMPLETED)
        late = {f for f, running in self.running.items() if running.seconds_left <= 0}
        failures = 0
        for future in sorted(done | late, key=lambda future: self.running[future].rank):
            running = self.running.pop(future)
            if future.done():
                outcome = self._read(future, running)
            else:
                running.underway.end()
                outcome = _left_behind(running)
            self._outcomes[running.rank] = outcome
            self._hold(outcome.cost_usd + outcome.unknown_usd - running.held_usd)
            failures += bool(outcome.failure)
        return failures

    def _read(self, future: Future[Completion], running: _Running) -> _Outcome:
        limits = running.limits
        try:
            completion = future.result()
        except ModelError as error:
            return _failed(error, running)
        failure = ""
        if completion.latency_s > limits.timeout_s + GRACE_S:
            failure = f"took {completion.latency_s:.1f} s of {limits.timeout_s:.1f} s"
        elif not self._answer_in(completion.text):
            failure = f"said nothing ({completion.finish_reason})"
        latency_s = min(completion.latency_s, limits.timeout_s)
        return _Outcome(
            call=running.call, completion=completion, failure=failure, latency_s=latency_s
        )

    def _hold(self, usd: float) -> None:
        self._held_usd += usd
        self._ledger.hold(usd)


def _failed(error: ModelError, running: _Running) -> _Outcome:
    measured_s = time.perf_counter() - running.started
    usage = usage_of(error)
    unknown_usd = running.held_usd - running.call.entry.prices.cost_usd(usage)
    return _Outcome(
        call=running.call,
        usage=usage,
        unknown_usd=max(0.0, unknown_usd) if error.may_have_used_more else 0.0,
        failure=f"{type(error).__name__}: {error}",
        latency_s=measured_s if error.latency_s is None else error.latency_s,
    )


def _left_behind(running: _Running) -> _Outcome:
    timeout_s = running.limits.timeout_s
    late = ModelUnavailable(f"it did not answer in {timeout_s:.1f} s, and did not end either")
    late.usage = Usage(prompt_tokens=running.call.prompt.tokens, completion_tokens=0)
    late.latency_s, late.may_have_used_more = timeout_s, True
    return _failed(late, running)


def _latency_s(outcomes: Sequence[_Outcome], wanted: int, roster: Roster) -> float:
    """Until the last one ended: a call that takes another's place starts when that one failed."""
    failed_at: list[float] = []
    timed: list[TimedCall] = []
    for place, outcome in enumerate(outcomes):
        start_s = 0.0 if place < wanted or not failed_at else heapq.heappop(failed_at)
        if outcome.failure:
            heapq.heappush(failed_at, start_s + outcome.latency_s)
        name = outcome.call.entry.name
        timed.append(TimedCall(model=name, latency_s=outcome.latency_s, starts_s=start_s))
    return layer_s(timed, roster)
