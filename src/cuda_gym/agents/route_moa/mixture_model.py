"""A mixture as a Model: messages in; text, tokens, seconds and cost out. Whoever takes a Model can use one.

Covered: whole conversations, limits of a call within those of the mixture's plan, streams; tokens and cost are of all
calls behind an answer, and of the router.
Not covered: tools, which models of a mixture could not agree on; they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, final

from cuda_gym.agents.route_moa.answers import Answer
from cuda_gym.agents.route_moa.conversation import last_of, prompt_of
from cuda_gym.agents.route_moa.layers import Mixture
from cuda_gym.agents.route_moa.plan import MixturePlan
from cuda_gym.errors import ModelRefused
from cuda_gym.models.estimates import check_limits
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Estimated, Limits, Message

__all__ = ["MixtureModel"]


@final
class MixtureModel:
    """A mixture that is called as if it were one model. Safe to use from several threads.

    Args:
        mixture: That answers.
        name: Unique among the models that are used with it.
        topic_of: The part of a conversation by which models are chosen; by default its last message. Where
            that says little, as in a loop of errors and repairs, take the task from an earlier one.
    """

    def __init__(
        self,
        mixture: Mixture,
        *,
        name: str = "routemoa",
        topic_of: Callable[[Sequence[Message]], str] = last_of,
    ) -> None:
        self._mixture = mixture
        self._name = name
        self._topic_of = topic_of

    @property
    def name(self) -> str:
        """Unique among those that are used together."""
        return self._name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """The next turn.

        Raises:
            ModelRefused: there is no message, or there are tools.
            ModelError: as `Mixture.answer`.
        """
        self._check(messages, limits, tools)
        answer = self._mixture.answer(
            prompt_of(messages), topic=self._topic_of(messages), plan=self._plan(limits)
        )
        return self._completion(answer)

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """Pieces of the answer as they come, then the completion.

        Raises:
            ModelRefused: there is no message.
            ModelError: as `Mixture.stream`, also in the middle.
        """
        self._check(messages, limits, ())
        for item in self._mixture.stream(
            prompt_of(messages), topic=self._topic_of(messages), plan=self._plan(limits)
        ):
            yield self._completion(item) if isinstance(item, Answer) else item

    def _check(
        self, messages: Sequence[Message], limits: Limits, tools: Sequence[Mapping[str, Any]]
    ) -> None:
        check_limits(self._name, limits)
        if not messages:
            raise ModelRefused(f"{self._name} was given no message; give it one or more.")
        if tools:
            raise ModelRefused(
                f"{self._name} is a mixture and calls no tools; it was given {len(tools)}. Describe in a "
                "message what it shall write, or ask a single model."
            )

    def _plan(self, limits: Limits) -> MixturePlan:
        """The mixture's own within these limits: the seconds are those of the whole answer."""
        plan = self._mixture.plan
        left_s = plan.budget.seconds
        seconds = limits.timeout_s if left_s is None else min(left_s, limits.timeout_s)
        return replace(
            plan,
            limits=limits.within(plan.limits),
            budget=replace(plan.budget, seconds=seconds),
        )

    def _completion(self, answer: Answer) -> Completion:
        route = answer.route
        parts = [proposal.completion for layer in route.layers for proposal in layer.proposals]
        guessed: set[Estimated] = {figure for part in parts for figure in part.estimated}
        guessed.update(answer.estimated)
        return Completion(
            model=self._name,
            text=answer.text,
            usage=route.bill.total.usage,
            latency_s=route.latency_s,
            cost_usd=route.bill.cost_usd,
            finish_reason="length" if answer.is_cut else "stop",
            estimated=tuple(sorted(guessed)),
        )
