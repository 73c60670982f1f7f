"""What is learnt on top of a frozen encoder, and how.

The losses follow RouterDC (arXiv 2409.19886): a query's vector is drawn to the embeddings of models that answer it
right and away from those of models that do not, and to queries of its own cluster. A third, cross-entropy on the
labels, makes probabilities of likenesses.

Covered: gaps in the labels, in all of them. Not covered: training the encoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.bert import Vectors, one_thread

if TYPE_CHECKING:
    import torch

__all__ = ["Heads", "TrainingPlan", "train_heads"]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """How a scorer is trained."""

    epochs: int = 60
    """At most; training ends when held-out labels are predicted no better."""
    patience: int = 8
    """Epochs without getting better after which it ends."""
    dimensions: int = 96
    """Of what a query is compared with models in."""
    top_k: int = 3
    """Right models that a query is drawn to."""
    last_k: int = 3
    """Wrong ones that it is drawn from."""
    num_clusters: int = 32
    model_weight: float = 0.1
    """Of the loss between queries and models, against cross-entropy."""
    cluster_weight: float = 0.1
    """Of the loss between queries."""
    temperature: float = 0.2
    """Of both contrastive losses."""
    batch: int = 128
    learning_rate: float = 4e-3
    decay: float = 1e-2
    """Of weights, for each step and unit of the learning rate."""
    dropout: float = 0.5
    """Of a query's vector."""


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What is learnt: a projection of queries, an embedding of each model, and how to read their likeness."""

    projection: Vectors
    shift: Vectors
    embeddings: Vectors
    """A row for each model."""
    sharpness: Vectors
    """One for each model: by what its likeness counts."""
    bias: Vectors
    """One for each model: its log odds where a likeness is 0."""

    def logits(self, vectors: Vectors) -> Numbers:
        """A row for each query, a column for each model."""
        projected = vectors @ self.projection + self.shift
        projected /= np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), 1e-6)
        models = self.embeddings / np.maximum(
            np.linalg.norm(self.embeddings, axis=1, keepdims=True), 1e-6
        )
        return np.asarray(projected @ models.T * self.sharpness + self.bias, np.float64)


def train_heads(
    vectors: Vectors,
    labels: Numbers,
    *,
    held_out: tuple[Vectors, Numbers],
    clusters: npt.NDArray[np.intp],
    seed: int,
    plan: TrainingPlan,
) -> Heads:
    """Fit to labelled queries; stop when held-out ones are predicted no better.

    Args:
        vectors: Of the queries, a row each.
        labels: A row for each query, a column for each model; NaN where there is none.
        held_out: Vectors and labels that are only looked at.
        clusters: Of each query.
        seed: Of all that is drawn.
        plan: How.
    """
    import torch

    draw = torch.Generator().manual_seed(seed)
    parameters = _start(vectors.shape[1], labels, plan.dimensions, draw)
    optimiser = torch.optim.AdamW(
        list(parameters.values()), lr=plan.learning_rate, weight_decay=plan.decay
    )
    x, y, c = (
        torch.from_numpy(np.ascontiguousarray(a))
        for a in (vectors, labels.astype(np.float32), clusters)
    )
    best, best_miss, waited = _heads(parameters), float("inf"), 0
    for _ in range(plan.epochs):
        with one_thread():
            for at in torch.split(torch.randperm(len(x), generator=draw), plan.batch):
                loss = _loss(parameters, (x[at], y[at], c[at]), plan, draw)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
        heads = _heads(parameters)
        miss = _cross_entropy(heads.logits(held_out[0]), held_out[1])
        waited = 0 if miss < best_miss - 1e-5 else waited + 1
        if waited == 0:
            best, best_miss = heads, miss
        if waited >= plan.patience:
            break
    return best


def _start(
    width: int, labels: Numbers, dimensions: int, draw: torch.Generator
) -> dict[str, torch.Tensor]:
    import torch

    there = ~np.isnan(labels)
    right = (np.nansum(labels, 0) + 1.0) / (there.sum(0) + 2.0)
    num_models = labels.shape[1]
    made = {
        "projection": torch.randn(width, dimensions, generator=draw) * width**-0.5,
        "shift": torch.zeros(dimensions),
        "embeddings": torch.randn(num_models, dimensions, generator=draw),
        "sharpness": torch.full((num_models,), 2.0),
        "bias": torch.from_numpy(np.log(right / (1 - right))).float(),
    }
    return {name: value.requires_grad_() for name, value in made.items()}


def _heads(parameters: dict[str, torch.Tensor]) -> Heads:
    return Heads(**{name: value.detach().numpy().copy() for name, value in parameters.items()})


def _loss(
    parameters: dict[str, torch.Tensor],
    batch: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    plan: TrainingPlan,
    draw: torch.Generator,
) -> torch.Tensor:
    import torch
    from torch.nn.functional import normalize

    vectors, labels, clusters = batch
    kept = torch.rand(vectors.shape, generator=draw) >= plan.dropout
    queries = normalize(
        (vectors * kept / (1 - plan.dropout)) @ parameters["projection"] + parameters["shift"],
        dim=1,
    )
    alike = queries @ normalize(parameters["embeddings"], dim=1).T
    logits = alike * parameters["sharpness"] + parameters["bias"]
    there = ~labels.isnan()
    target = labels.nan_to_num()
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (
        (entropy * there).sum() / there.sum().clamp(min=1)
        + plan.model_weight * _between_models(alike / plan.temperature, labels, plan, draw)
        + plan.cluster_weight
        * _between_queries(queries @ queries.T / plan.temperature, clusters, draw)
    )


def _between_models(
    alike: torch.Tensor, labels: torch.Tensor, plan: TrainingPlan, draw: torch.Generator
) -> torch.Tensor:
    """Each of the top_k right models against the last_k wrong ones; equals are drawn by lot."""
    import torch

    lot = labels + torch.rand(labels.shape, generator=draw) * 1e-3
    good = _extreme(lot, plan.top_k) & (labels > 0)
    bad = _extreme(-lot, plan.last_k) & (labels <= 0.5) & ~good
    against = alike.masked_fill(~bad, -torch.inf).logsumexp(1, keepdim=True)
    terms = torch.logaddexp(alike, against) - alike
    counted = good & bad.any(1, keepdim=True)
    return terms.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)


def _extreme(values: torch.Tensor, count: int) -> torch.Tensor:
    import torch

    known = values.nan_to_num(nan=-torch.inf)
    places = known.topk(min(count, values.shape[1]), dim=1).indices
    chosen = torch.zeros_like(values, dtype=torch.bool).scatter_(1, places, True)
    return chosen & ~values.isnan()


def _between_queries(
    alike: torch.Tensor, clusters: torch.Tensor, draw: torch.Generator
) -> torch.Tensor:
    """Each query and one of its cluster, against all of other clusters in the batch."""
    import torch

    same = clusters[:, None] == clusters[None, :]
    others = same & ~torch.eye(len(clusters), dtype=torch.bool)
    partner = (torch.rand(alike.shape, generator=draw) * others).argmax(1, keepdim=True)
    near = alike.gather(1, partner)
    against = alike.masked_fill(same, -torch.inf).logsumexp(1, keepdim=True)
    counted = others.any(1, keepdim=True) & (~same).any(1, keepdim=True)
    terms = torch.logaddexp(near, against) - near
    return terms.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)


def _cross_entropy(logits: Numbers, labels: Numbers) -> float:
    there = ~np.isnan(labels)
    if not there.any():
        return 0.0
    each = np.logaddexp(0.0, logits) - np.nan_to_num(labels) * logits
    return float(each[there].mean())
