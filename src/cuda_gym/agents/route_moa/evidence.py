"""What is seen of answers, and how to get it of questions whose answers are known: for the weights of evidence.

    evidence   model's score for itself, a judge's for it, and who agrees with it
    record     the same with what the scorer thought before, and whether the answer was right

Covered: the first two layers of a mixture that was run on a graded question, and models that it did not call.
Not covered: later layers; grading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.agents.route_moa.agreement import Same, same_answer, shares
from cuda_gym.agents.route_moa.answers import Answer, Proposal
from cuda_gym.agents.route_moa.judges import assess

__all__ = ["Evidence", "Record", "records_of"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is seen of one answer."""

    model: str
    self_score: float | None = None
    peer_score: float | None = None
    judge: str | None = None
    """Who gave the peer score."""
    agreement: float | None = None
    """Share of the other proposals of its layer that say the same."""
    others: int = 0
    """How many there are."""
    layer: int = 0
    answered: bool = True
    """False of a model that was not called: then agreement is the mean of the first layer's."""


@dataclass(frozen=True, kw_only=True)
class Record(Evidence):
    """One answer to a question whose answer is known."""

    prior: float
    """The scorer's, made without this question."""
    right: float
    """In [0, 1]."""


def records_of(
    answer: Answer,
    *,
    grade: Callable[[str], float],
    not_called: Mapping[str, float] | None = None,
    same: Same = same_answer,
) -> list[Record]:
    """What a mixture saw of one question, graded.

    Its plan says what there is to be seen: `MixturePlan.to_learn` asks for scores, and does not exit early.

    Args:
        answer: Of a mixture whose scorer was not trained on the question.
        grade: How right a proposal's text is, in [0, 1].
        not_called: How right models would have been that were not called, where that is known.
        same: As the mixture's.
    """
    route = answer.route
    if not route.layers:
        return []
    first, second, *_ = [layer.proposals for layer in route.layers] + [()]
    judged = assess(first, second, route.layers[0].beliefs)
    records: list[Record] = []
    for proposals, peers, judge in (
        (first, judged.peers, judged.judge),
        (second, (None,) * len(second), None),
    ):
        agreement = shares([proposal.text for proposal in proposals], same)
        for proposal, peer, share in zip(proposals, peers, agreement, strict=True):
            records.append(
                Record(
                    model=proposal.model,
                    prior=route.prior[proposal.model].mean,
                    right=grade(proposal.text),
                    self_score=proposal.self_score,
                    peer_score=peer,
                    judge=judge,
                    agreement=share,
                    others=len(proposals) - 1,
                    layer=proposal.layer,
                )
            )
    return records + _of_others(answer, first, not_called or {}, same)


def _of_others(
    answer: Answer, first: Sequence[Proposal], right: Mapping[str, float], same: Same
) -> list[Record]:
    """What the first layer says of how easy the question is, for models that were not in it."""
    known = [share for share in shares([one.text for one in first], same) if share is not None]
    called = {proposal.model for proposal in first}
    return [
        Record(
            model=model,
            prior=answer.route.prior[model].mean,
            right=score,
            agreement=sum(known) / len(known),
            others=len(first) - 1,
            answered=False,
        )
        for model, score in right.items()
        if known and model not in called
    ]
