"""The methods of the comparison, made from what was learnt in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchmarks.routing_replay.evidence import LIMITS
from benchmarks.routing_replay.fitting import Fitted, best_static, plain_costs
from benchmarks.routing_replay.loading import Pool, Question
from benchmarks.routing_replay.names import ALL, MOA_1, MOA_3, ORACLE, SINGLE, STATIC
from benchmarks.routing_replay.outcomes import Outcome, Run, no_outcome, outcome_of

from cuda_gym.agents.route_moa.answers import NoAnswer
from cuda_gym.agents.route_moa.baselines import (
    BestPerCategory,
    BestSingle,
    Cascade,
    ClassicalMoA,
    Method,
    Oracle,
    PluralityOfAll,
    SelfMoA,
    SparseMoA,
    StaticBestK,
    cheap_to_dear,
)
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.ranking import Preferences
from cuda_gym.models.model import Model

__all__ = ["PRICES", "Bench", "Knobs", "recorded_knobs", "simulated_knobs"]


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """What is chosen of a mixture on training questions."""

    width: int = 3
    max_layers: int = 1
    exit_posterior: float = 0.0
    """0 lets the answer of the most believed model stand whatever that belief is."""
    usd: float = 0.0
    with_scores: bool = False
    """Whether simulated scores count as evidence."""

    def plan(self) -> MixturePlan:
        return MixturePlan(
            width=self.width,
            least_width=min(2, self.width),
            max_layers=self.max_layers,
            exit_posterior=self.exit_posterior,
            preferences=Preferences(usd=self.usd),
            limits=LIMITS,
        )


PRICES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""What the cost of one plain answer of the best single model counts, in shares of right answers."""
WIDTHS = (1, 2, 3, 5)


def recorded_knobs(widest: int, usd: Sequence[float]) -> list[Knobs]:
    """One layer, a vote weighted by belief: nothing of it is simulated."""
    widths = [width for width in WIDTHS if width <= widest]
    return [Knobs(width=width, usd=price) for width in widths for price in usd]


def simulated_knobs(start: Knobs) -> list[Knobs]:
    """More layers and an aggregator, from the best width and price of one layer on."""
    starts = {start, replace(start, width=max(2, start.width))}
    return [
        replace(one, max_layers=layers, exit_posterior=least, with_scores=True)
        for one in sorted(starts, key=lambda one: one.width)
        for layers, least in ((1, 0.0), (1, 0.6), (1, 0.8), (2, 0.6), (2, 0.8), (3, 0.8))
    ]


@dataclass
class Bench:
    """A pool's models, and the answers of methods that do not depend on a seed."""

    pool: Pool
    models: dict[str, Model]
    _known: dict[tuple[object, str], Outcome] = field(default_factory=dict)

    def mixture(self, fit: Fitted, knobs: Knobs, *, in_training: bool = False) -> Mixture:
        """A mixture with these knobs; in training its scorer must not know the questions."""
        return Mixture(
            self.pool.roster,
            self.models,
            fit.scorer if in_training else fit.final_scorer,
            weights=fit.weights if knobs.with_scores else fit.recorded_weights,
            plan=knobs.plan(),
            completion_tokens=fit.completion_tokens,
        )

    def run(self, method: Method, questions: Sequence[Question], key: object = None) -> Run:
        """Answer and grade.

        Args:
            method: What answers.
            questions: In their order.
            key: Tells methods apart that answer a question in the same way under every seed, so that each
                is asked once; None is a method that does not.
        """
        outcomes = []
        for question in questions:
            known = self._known.get((key, question.id)) if key is not None else None
            if known is None:
                known = self._asked(method, question)
                if key is not None:
                    self._known[key, question.id] = known
            outcomes.append(known)
        return Run(questions=tuple(question.id for question in questions), outcomes=tuple(outcomes))

    def baselines(self, fit: Fitted) -> dict[str, tuple[Method, object]]:
        """By name, each with the key of its answers."""
        crew = Crew(
            roster=self.pool.roster,
            models=self.models,
            limits=LIMITS,
            completion_tokens=fit.completion_tokens,
        )
        category_of = self._category
        order = fit.order
        made: dict[str, tuple[Method, object]] = {
            SINGLE: (BestSingle(crew=crew, order=order), ("single", order[:3])),
            "best per category": (
                BestPerCategory(
                    crew=crew, orders=fit.orders, otherwise=order, category_of=category_of
                ),
                None,
            ),
            ORACLE: (Oracle(crew=crew, is_right=self._is_right), "oracle"),
        }
        if not self.pool.answers_are_recorded:
            return made
        return made | self._of_many(crew, fit)

    def _of_many(self, crew: Crew, fit: Fitted) -> dict[str, tuple[Method, object]]:
        """Those that compare answers with each other."""
        order, best, everyone = fit.order, fit.order[0], self.pool.models
        three = (*fit.best_three, *(name for name in order if name not in fit.best_three))
        return {
            STATIC: (
                StaticBestK(crew=crew, order=three),
                ("static", 3, three[:5]),
            ),
            "static best 3, aggregator": (
                StaticBestK(crew=crew, order=three, ends="aggregator"),
                ("static aggregator", three[:5]),
            ),
            "cascade until 2 agree": self._cascade(crew, 2),
            "cascade until 3 agree": self._cascade(crew, 3),
            "Self-MoA, 6 samples": (SelfMoA(crew=crew, model=best), ("self", best)),
            ALL: (PluralityOfAll(crew=crew, order=order), ("all", order)),
            MOA_1: (
                ClassicalMoA(crew=crew, names=everyone, aggregators=order, layers=1),
                ("moa 1", order[:3]),
            ),
            MOA_3: (
                ClassicalMoA(crew=crew, names=everyone, aggregators=order),
                ("moa 3", order[:3]),
            ),
            "sparse MoA, keeps 3": (
                SparseMoA(crew=crew, names=everyone, judges=order, aggregators=order),
                ("smoa", order[:3]),
            ),
        }

    def static_within(
        self, fit: Fitted, most_usd: float, asked: Sequence[Question]
    ) -> tuple[tuple[str, ...], float]:
        """The static choice that is right most often in training for at most so much, and its cost, of these."""
        costs = plain_costs(self.pool, asked)
        names = best_static(self.pool, fit.split.train, fit.order, costs=costs, most_usd=most_usd)
        return names, sum(costs[name] for name in names)

    def prices(self, fit: Fitted) -> list[float]:
        """What a dollar is worth, for each of `PRICES`."""
        costs = plain_costs(self.pool, fit.split.train)
        return [share / costs[fit.order[0]] for share in PRICES]

    def _asked(self, method: Method, question: Question) -> Outcome:
        """No answer is a wrong one: the best single model was not asked a few questions."""
        try:
            answer = method.answer(question.text)
        except NoAnswer as error:
            return no_outcome(error.bill.cost_usd)
        layers_read = not isinstance(method, Cascade)
        return outcome_of(answer, question, self.pool, layers_read=layers_read)

    def _cascade(self, crew: Crew, agreeing: int) -> tuple[Method, object]:
        """Without simulated scores: only agreement is trusted."""
        method = Cascade(
            crew=crew,
            order=cheap_to_dear(self.pool.roster),
            confident_from=None,
            agreeing=agreeing,
        )
        return method, ("cascade", agreeing)

    def _category(self, query: str) -> str:
        return self.pool.by_text[query].category

    def _is_right(self, query: str, model: str) -> bool:
        said = self.pool.recordings[model].get(self.pool.by_text[query].id)
        return said is not None and said.score >= 0.5
