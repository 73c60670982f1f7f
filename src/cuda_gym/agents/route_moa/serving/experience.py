"""What a server learns of its models from what they answer: how fast they are, how much they write, how often they were asked.

Covered: latencies that were measured, each model's running mean with its roster's figure counted as one more call; a
bonus for models that are hardly known, which shrinks with every answer of a model.
Not covered: whether answers were right, which nobody tells a server; calls that failed; what waiting for a busy endpoint
added to a latency. All is forgotten when the server ends.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from cuda_gym.agents.route_moa.answers import Answer, Belief
from cuda_gym.agents.route_moa.ranking import DEFAULT_EXPECTED
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.models.model import Completion

__all__ = ["Experience"]


class Experience:
    """With the models of one roster. Safe to use from several threads.

    Args:
        roster: With the speeds that are assumed at the start.
    """

    def __init__(self, roster: Roster) -> None:
        self._lock = threading.Lock()
        self._assumed = self._roster = roster
        self._answers: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()

    @property
    def roster(self) -> Roster:
        """With what is known of speeds by now."""
        return self._roster

    @property
    def completion_tokens(self) -> Mapping[str, float]:
        """What each model that was asked usually writes."""
        with self._lock:
            return {
                name: (DEFAULT_EXPECTED.completion_tokens + self._tokens[name]) / (1 + count)
                for name, count in self._answers.items()
            }

    def seen(self, beliefs: Mapping[str, Belief]) -> Mapping[str, Belief]:
        """Beliefs that know how often each model was asked since."""
        with self._lock:
            return {
                name: replace(belief, weight=belief.weight + self._answers[name])
                for name, belief in beliefs.items()
            }

    def learn_from(self, answer: Answer) -> None:
        """Take note of all proposals that an answer was made of."""
        with self._lock:
            for layer in answer.route.layers:
                for proposal in layer.proposals:
                    self._learn(proposal.completion)

    def forget(self) -> bool:
        """Whether there was anything to forget.

        For a request that no model is expected to answer in time or for its money: a few slow answers must not keep
        all later requests from the models, since without calls nothing better would ever be seen.
        """
        with self._lock:
            was_there = bool(self._answers)
            self._roster = self._assumed
            self._answers.clear()
            self._tokens.clear()
            return was_there

    def _learn(self, completion: Completion) -> None:
        name, tokens = completion.model, completion.usage.completion_tokens
        self._answers[name] += 1
        self._tokens[name] += tokens
        if "latency_s" not in completion.estimated:
            self._roster = self._roster.with_measured(name, completion.latency_s, tokens)
