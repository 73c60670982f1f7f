"""What answers tell about models, put together with the prior in one formula.

For each model m, in log odds:

    logit p(m) = logit prior(m) + a self(m) + b peer(m) + c agreement(m) + d

with self and peer as logits of the scores less what that judge usually gives, agreement as the log of the share of the other proposals
that say the same over what chance would give; each term only where it is known. The weights are fitted on
questions whose answers are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.agents.route_moa.answers import Belief, Proposal

__all__ = ["PosteriorWeights", "update"]


@dataclass(frozen=True, kw_only=True)
class PosteriorWeights:
    """Of each kind of evidence."""

    prior: float = 1.0
    self_score: float = 0.0
    peer_score: float = 0.0
    agreement: float = 0.0
    bias: float = 0.0


def update(
    beliefs: Mapping[str, Belief],
    proposals: Sequence[Proposal],
    *,
    peers: Sequence[float | None],
    agreement: Sequence[float],
    weights: PosteriorWeights,
) -> dict[str, Belief]:
    """The beliefs after one layer; models that did not run keep theirs.

    Args:
        beliefs: Before, of every model of the roster.
        proposals: Of this layer.
        peers: What the judge says of each; None where it says nothing.
        agreement: Of each, the share of the other proposals that give the same answer.
        weights: Fitted, see `fit`.
    """
    raise NotImplementedError
