"""The vectors of a pool's questions, made once and kept: every seed scores the same questions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.encoders import Encoder

__all__ = ["KeptEncoder"]

Vectors = npt.NDArray[np.float32]


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
        if not file.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            made = encoder.encode(texts)
            unfinished = file.with_suffix(".part.npy")
            np.save(unfinished, made)
            unfinished.replace(file)
        self._kept = dict(zip(texts, np.load(file, allow_pickle=False), strict=True))

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
