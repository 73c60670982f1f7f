"""The vectors of a pool's questions, made once and kept: every seed scores the same questions.

Covered: vectors that another encoder of that name made, as it shows on the longest text, are made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.encoders import Encoder

__all__ = ["KeptEncoder"]

Vectors = npt.NDArray[np.float32]

_SAME = 0.04  # of vectors of length one; other threads or another torch change the third digit


class KeptEncoder:
    """An encoder whose vectors of some texts are kept in a file; others it is asked for each time.

    What is kept is settled when it is made, a vector for each of its texts: it does not grow by being asked.

    Args:
        encoder: Who makes them.
        texts: Those to keep.
        folder: Of the files: one for each encoder and list of texts.
    """

    def __init__(self, encoder: Encoder, texts: Sequence[str], folder: Path) -> None:
        self._encoder = encoder
        digest = hashlib.sha256("\0".join((encoder.name, *texts)).encode()).hexdigest()[:16]
        file = folder / f"{encoder.name}-{digest}.npy"
        if not file.is_file() or not _are_of(encoder, texts, _read(file)):
            folder.mkdir(parents=True, exist_ok=True)
            made = encoder.encode(texts)
            unfinished = file.with_suffix(".part.npy")
            np.save(unfinished, made)
            unfinished.replace(file)
        self._kept = dict(zip(texts, _read(file), strict=True))

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        if all(text in self._kept for text in texts):
            kept = [self._kept[text] for text in texts]
            return np.stack(kept) if kept else np.zeros((0, self.dimensions), np.float32)
        return self._encoder.encode(texts)

    def save(self, folder: Path) -> None:
        self._encoder.save(folder)


def _read(file: Path) -> Vectors:
    vectors: Vectors = np.load(file, allow_pickle=False)
    return vectors


def _are_of(encoder: Encoder, texts: Sequence[str], vectors: Vectors) -> bool:
    """By the longest text, which tells best how much of a text is read."""
    if vectors.shape != (len(texts), encoder.dimensions):
        return False
    if not texts:
        return True
    longest = max(range(len(texts)), key=lambda at: len(texts[at]))
    off = encoder.encode([texts[longest]])[0] - vectors[longest]
    return float(np.linalg.norm(off)) < _SAME
