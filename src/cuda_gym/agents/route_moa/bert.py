"""The forward pass of a BERT, from files on this machine, and means over its tokens.

Written out over torch, which is there anyway: the usual libraries take seconds to import and look for
their files on the network first. Where the processor multiplies bfloat16 itself, it is used, with
vectors that agree with those of float32 to a cosine of .9999.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cuda_gym.errors import MissingTool

if TYPE_CHECKING:
    import torch

__all__ = ["Bert", "Vectors", "no_sentence_model", "of_length_one", "one_thread"]

Vectors = npt.NDArray[np.float32]

_STEP = 8
"""Tokens. Attention to the ones that are none costs nothing, and lengths between are slower."""


class Bert:
    """A tokenizer and an encoder.

    Args:
        files: A folder with `config.json`, `tokenizer.json` and `model.safetensors`.

    Raises:
        MissingTool: one of them, or the library that reads it, is not there.
    """

    def __init__(self, files: Path) -> None:
        missing = [
            name
            for name in ("config.json", "tokenizer.json", "model.safetensors")
            if not (files / name).is_file()
        ]
        if missing:
            raise MissingTool(f"The sentence model in {files} lacks {', '.join(missing)}.")
        try:
            from safetensors.torch import load_file
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise no_sentence_model(error) from error
        config = json.loads((files / "config.json").read_text(encoding="utf-8"))
        self.width = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._epsilon = float(config["layer_norm_eps"])
        weights = load_file(files / "model.safetensors")
        if _multiplies_bfloat16():
            weights = {
                name: weight.bfloat16() if weight.is_floating_point() else weight
                for name, weight in weights.items()
            }
        self._weights: Mapping[str, torch.Tensor] = weights
        self._tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def tokens(self, text: str, *, most: int) -> list[int]:
        """Of a text; of a long one, its head and its tail."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        if len(text) > 64 * most:  # the middle is not read: nor is it taken apart
            text = f"{text[: 32 * most]} {text[-32 * most :]}"
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids if len(ids) <= most else ids[: most // 2] + ids[most // 2 - most :]

    def vectors(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """Means over tokens, of length one."""
        import torch

        length = self._round(max(len(ids) for ids in tokens))
        ids = torch.tensor([[*one, *[0] * (length - len(one))] for one in tokens])
        there = torch.tensor([[1] * len(one) + [0] * (length - len(one)) for one in tokens]).bool()
        alone = one_thread() if len(tokens) == 1 else nullcontext()
        with alone, torch.inference_mode():
            hidden = self._embedded(ids)
            seen = None if bool(there.all()) else there[:, None, None, :]
            for layer in range(self._layers):
                hidden = self._layer(hidden, f"encoder.layer.{layer}", seen)
            counted = there[:, :, None].float()
            means = (hidden.float() * counted).sum(1) / counted.sum(1)
        return of_length_one(means.numpy())

    def _round(self, length: int) -> int:
        """Up, to one of few: torch makes and keeps a program for each length, which takes as long as to run it."""
        most = self._weights["embeddings.position_embeddings.weight"].shape[0]
        return max(length, min(most, -(-length // _STEP) * _STEP))

    def _embedded(self, ids: torch.Tensor) -> torch.Tensor:
        words, places, kinds = (
            self._weights[f"embeddings.{what}_embeddings.weight"]
            for what in ("word", "position", "token_type")
        )
        return self._normal(words[ids] + places[: ids.shape[1]] + kinds[0], "embeddings.LayerNorm")

    def _layer(self, hidden: torch.Tensor, at: str, seen: torch.Tensor | None) -> torch.Tensor:
        from torch.nn.functional import gelu, scaled_dot_product_attention

        def split(what: str) -> torch.Tensor:
            made = self._linear(hidden, f"{at}.attention.self.{what}")
            return made.view(*made.shape[:2], self._heads, -1).transpose(1, 2)

        mixed = scaled_dot_product_attention(
            split("query"), split("key"), split("value"), attn_mask=seen
        )
        mixed = self._linear(mixed.transpose(1, 2).flatten(2), f"{at}.attention.output.dense")
        hidden = self._normal(mixed + hidden, f"{at}.attention.output.LayerNorm")
        inner = gelu(self._linear(hidden, f"{at}.intermediate.dense"))
        return self._normal(
            self._linear(inner, f"{at}.output.dense") + hidden, f"{at}.output.LayerNorm"
        )

    def _linear(self, hidden: torch.Tensor, at: str) -> torch.Tensor:
        from torch.nn.functional import linear

        return linear(hidden, self._weights[f"{at}.weight"], self._weights[f"{at}.bias"])

    def _normal(self, hidden: torch.Tensor, at: str) -> torch.Tensor:
        from torch.nn.functional import layer_norm

        weight, bias = self._weights[f"{at}.weight"], self._weights[f"{at}.bias"]
        return layer_norm(hidden, (self.width,), weight, bias, self._epsilon)


@contextmanager
def one_thread() -> Iterator[None]:
    """For steps so small that threads wait for each other longer than they work.

    Beside other programs that is four times as long as one thread takes alone.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def no_sentence_model(error: ModuleNotFoundError) -> MissingTool:
    """What to say where a library is not installed."""
    return MissingTool(
        f"The sentence encoder needs {error.name}, which is not installed. "
        "`pip install 'cuda-gym[routemoa]'` brings it; TfidfEncoder does without."
    )


def of_length_one(rows: npt.NDArray[Any]) -> Vectors:
    """Each row by its length; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)


def _multiplies_bfloat16() -> bool:
    facts = Path("/proc/cpuinfo")
    flags = facts.read_text(encoding="utf-8", errors="replace") if facts.is_file() else ""
    return "avx512_bf16" in flags or "amx_bf16" in flags
