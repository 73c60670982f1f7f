"""The mixture: route, propose side by side, assess, exit or go on, aggregate.

Covered: an answer stands without an aggregator where a model is likely enough right, where all of a layer agree,
where there is only one, or where the budget is used up; the aggregator is the best-ranked model that fits, and if
none gives an answer, the best proposal stands. Every call is billed, whatever became of it.
Not covered: an aggregator that breaks off in the middle of a stream; what is said cannot be taken back, so
that is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cuda_gym.agents.route_moa.agreement import Same, same_answer
from cuda_gym.agents.route_moa.answers import Answer, NoAnswer, Scorer
from cuda_gym.agents.route_moa.calls import call_side_by_side
from cuda_gym.agents.route_moa.course import Course
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.agents.route_moa.judges import plain_answer
from cuda_gym.agents.route_moa.plan import MixturePlan
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.agents.route_moa.streaming import stream_one
from cuda_gym.models.model import Completion, Model

__all__ = ["Mixture", "MixturePlan"]


class Mixture:
    """Answers queries with the models of a roster. Safe to use from several threads.

    Args:
        roster: Which models there are.
        models: Each by its name; the calls are made through these.
        scorer: Rates them by the query.
        weights: Of the evidence that answers give.
        plan: How to go about it.
        same: Whether two answers say the same.
        completion_tokens: What each model usually writes, for its expected cost and latency.

    Raises:
        RosterError: a model of the roster is not among the models.
    """

    def __init__(
        self,
        roster: Roster,
        models: Mapping[str, Model],
        scorer: Scorer,
        *,
        weights: PosteriorWeights,
        plan: MixturePlan | None = None,
        same: Same = same_answer,
        completion_tokens: Mapping[str, float] | None = None,
    ) -> None:
        self._plan = plan or MixturePlan()
        self._scorer = scorer
        self._weights = weights
        self._crew = Crew(
            roster=roster,
            models=models,
            limits=self._plan.limits,
            completion_tokens=completion_tokens or {},
            same=same,
        )

    @property
    def name(self) -> str:
        """As a method among others."""
        return "RouteMoA"

    @property
    def plan(self) -> MixturePlan:
        """How it goes about a query, if nothing else is said."""
        return self._plan

    def answer(
        self, query: str, *, topic: str | None = None, plan: MixturePlan | None = None
    ) -> Answer:
        """Answer one query.

        Args:
            query: What the models read.
            topic: What the scorer reads, such as the last message of a conversation; None is the query.
            plan: For this query; None is the mixture's own.

        Raises:
            NoAnswer: no model gave an answer; the bill so far is in its `bill`.
            ContextExceeded: the query is longer than every model reads; nothing was called.
            BudgetExceeded: no call is expected to fit into the budget; nothing was called.
        """
        course = self._set_out(query, topic, plan)
        exit_reason, standing = course.run()
        if standing is not None:
            return course.stands(standing, exit_reason)
        called = call_side_by_side(
            course.aggregations(),
            wanted=1,
            ledger=course.ledger,
            roster=self._crew.roster,
            billed_for="aggregator",
            answer_in=plain_answer,
        )
        for completion in called.completions:
            return course.made(plain_answer(completion.text), exit_reason, completion)
        return course.stands(course.best, exit_reason if called.failed else "budget")

    def stream(
        self, query: str, *, topic: str | None = None, plan: MixturePlan | None = None
    ) -> Iterator[str | Answer]:
        """Pieces of the final answer as they come, then the answer as `answer` would have given it.

        Where one answer stands it is one piece. The pieces together are the answer's text, but for
        white space around it.

        Args:
            query: As for `answer`.
            topic: As for `answer`.
            plan: As for `answer`.

        Raises:
            NoAnswer: as `answer`; or the aggregator broke off in the middle.
            ContextExceeded: as `answer`.
            BudgetExceeded: as `answer`.
        """
        course = self._set_out(query, topic, plan)
        exit_reason, standing = course.run()
        if standing is not None:
            yield standing.text
            yield course.stands(standing, exit_reason)
            return
        calls_before = len(course.bill.lines)
        try:
            for item in stream_one(
                course.aggregations(), ledger=course.ledger, billed_for="aggregator"
            ):
                if isinstance(item, Completion):
                    yield course.made(item.text.strip(), exit_reason, item)
                    return
                yield item
        except NoAnswer as error:
            raise NoAnswer(str(error), course.bill) from error
        has_failed = len(course.bill.lines) > calls_before
        yield course.best.text
        yield course.stands(course.best, exit_reason if has_failed else "budget")

    def _set_out(self, query: str, topic: str | None, plan: MixturePlan | None) -> Course:
        crew = self._crew if plan is None else replace(self._crew, limits=plan.limits)
        return Course(
            query,
            crew,
            self._scorer,
            weights=self._weights,
            plan=plan or self._plan,
            topic=topic,
        )
