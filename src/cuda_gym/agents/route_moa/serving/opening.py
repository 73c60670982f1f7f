"""The mixture that answers one request: its models stop with it, and its scorer reads the last message alone.

Covered: a roster whose models are endpoints, limits of a request within those of the server, a server without a
scorer, and what answers tell of the models' speeds. Not covered: a change of the roster while serving.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec

from cuda_gym.agents.route_moa.answers import Answer, Belief, Scorer
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry
from cuda_gym.agents.route_moa.serving.experience import Experience
from cuda_gym.agents.route_moa.serving.request import ChatRequest
from cuda_gym.agents.route_moa.serving.stoppable import Stoppable
from cuda_gym.agents.route_moa.serving.work import OpenMixture
from cuda_gym.errors import BudgetExceeded, MissingTool, RosterError
from cuda_gym.models.model import Limits, Model
from cuda_gym.models.openai import OpenAIModel
from cuda_gym.models.retries import Retries

__all__ = ["EqualScorer", "endpoints_of", "opener_of"]

_RETRIES = Retries(num_attempts=3)
"""Fewer than where nobody could take a model's place."""


class EqualScorer:
    """Believes the same of every model, whatever is asked: they are ranked by price.

    Args:
        names: Of the roster.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._beliefs = {name: Belief(mean=0.5, weight=0.0) for name in names}

    def score(self, query: str) -> Mapping[str, Belief]:
        """Right as often as wrong, which nothing was seen of."""
        del query
        return self._beliefs


def endpoints_of(roster: Roster) -> dict[str, OpenAIModel]:
    """A model for each entry, called where the entry says; what its calls need is loaded.

    Raises:
        RosterError: an entry has no address, one that is none, or a key that is not there.
        MissingTool: the extra `llm` is not installed.
    """
    if find_spec("openai") is None:
        raise MissingTool(
            "The package `openai` is not installed, which calls the models of a roster: "
            "`pip install 'cuda-gym[llm]'`."
        )
    models = {entry.name: _endpoint(entry) for entry in roster}
    for model in models.values():
        model.open()  # else it would be taken off the seconds of the first request
    return models


def opener_of(
    roster: Roster,
    models: Mapping[str, Model],
    scorer: Scorer,
    *,
    weights: PosteriorWeights,
    plan: MixturePlan,
) -> OpenMixture:
    """Make mixtures of one roster, one for each request.

    Args:
        roster: Which models there are.
        models: Each by its name.
        scorer: Rates them by the last message.
        weights: Of the evidence that answers give.
        plan: How to go about a request; the request's own limits hold within these.
    """
    experience = Experience(roster)

    def open_mixture(request: ChatRequest, stop: threading.Event) -> _Opened:
        def make() -> Mixture:
            return Mixture(
                experience.roster,
                {name: Stoppable(model, stop) for name, model in models.items()},
                _Experienced(scorer, experience),
                weights=weights,
                plan=replace(plan, limits=_limits_of(request, plan.limits)),
                completion_tokens=experience.completion_tokens,
            )

        return _Opened(make, request.query, experience)

    return open_mixture


class _Experienced:
    """A scorer, and how often its models were asked since."""

    def __init__(self, scorer: Scorer, experience: Experience) -> None:
        self._scorer = scorer
        self._experience = experience

    def score(self, query: str) -> Mapping[str, Belief]:
        return self._experience.seen(self._scorer.score(query))


class _Opened:
    """A mixture that routes by the last message, and whose answers teach the server.

    Where by what was learnt nothing fits the budget, and nothing was called, it is made anew without that.
    """

    def __init__(self, make: Callable[[], Mixture], topic: str, experience: Experience) -> None:
        self._make = make
        self._topic = topic
        self._experience = experience

    def answer(self, query: str) -> Answer:
        try:
            answer = self._make().answer(query, topic=self._topic)
        except BudgetExceeded:
            if not self._experience.forget():
                raise
            answer = self._make().answer(query, topic=self._topic)
        self._experience.learn_from(answer)
        return answer

    def stream(self, query: str) -> Iterator[str | Answer]:
        try:
            yield from self._pieces(query)
        except BudgetExceeded:
            if not self._experience.forget():
                raise
            yield from self._pieces(query)

    def _pieces(self, query: str) -> Iterator[str | Answer]:
        for item in self._make().stream(query, topic=self._topic):
            if isinstance(item, Answer):
                self._experience.learn_from(item)
            yield item


def _limits_of(request: ChatRequest, limits: Limits) -> Limits:
    asked = replace(limits, temperature=request.temperature)
    return replace(asked, max_tokens=request.max_tokens or limits.max_tokens).within(limits)


def _endpoint(entry: RosterEntry) -> OpenAIModel:
    if entry.base_url is None:
        raise RosterError(
            f"{entry.name!r} has no base_url: say where it is called, as in "
            'base_url = "http://127.0.0.1:8000/v1".'
        )
    variable, key = entry.api_key_variable, None
    if variable is not None:
        key = os.environ.get(variable)
        if not key:
            raise RosterError(
                f"The key of {entry.name!r} is to be in the environment variable {variable}, which is "
                f"{'not set' if key is None else 'empty'}: export it, or leave api_key_variable out."
            )
    try:
        return OpenAIModel(
            entry.name, entry.base_url, entry.served_as, entry.prices, key, retries=_RETRIES
        )
    except ValueError as error:
        raise RosterError(f"{error}.") from error
