"""An agent that draws its actions: the lower end of every table, and a fuzzer of environments.

Most of what it says is a plausible tool call; some is a file that may or may not compile, a call
with arguments that do not fit, a path that leads outside, or no action at all.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from cuda_gym.core.episode import Action, Observation

__all__ = ["RandomAgent"]

_PATHS = (
    "model_new.py",
    "kernels/a.cu",
    "kernels/b.cu",
    "model.py",
    "SKILL.md",
    "kernels",
    "missing.py",
    "../outside.py",
    "/etc/hostname",
    "kernels/" + "x" * 300 + ".cu",
    "",
)
"""Right, fixed, missing and forbidden ones."""
_MODEL = """\
import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, *inputs):
        out = torch.empty_like(inputs[0])
        cuda_extension.draw(out, inputs[0], out.numel())
        return out
"""
_KERNEL = """\
#include <cuda_runtime.h>

__global__ void draw_kernel(float* out, const float* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = %s;
}

extern "C" void draw(float* out, const float* in, int n, cudaStream_t stream) {
    draw_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
"""
_EXPRESSIONS = ("in[i]", "0.0f", "in[i] * in[i]", "fmaxf(in[i], 0.0f)", "in[i] +", "undeclared")
_NONSENSE = (
    "",
    " ",
    "I think it should be faster.",
    "submit",
    '{"name": "compile"',
    '{"name": "compile", "arguments": "none"}',
    '{"name": "fly", "arguments": {"height": 9}}',
    '{"name": 7}',
    "[]",
    "```cuda file=kernels/a.cu\n",
    "``` file=\n```",
    "<tool_call>verify</tool_call>",
    "\x00\ufffe\u202e",
    "{" * 2000,
)
_WORDS = ("out", "in", "float", "Model", "(", "a*", "", "forward", "\\")


class RandomAgent:
    """Draws each action; equal seeds give equal actions in every episode."""

    def __init__(self, seed: int | None = None) -> None:
        """Choose the seed.

        Args:
            seed: None draws one.
        """
        self.name = "random"
        self._seed = random.SystemRandom().getrandbits(64) if seed is None else seed
        self._random = random.Random(self._seed)

    def reset(self, observation: Observation) -> None:  # noqa: ARG002
        """Begin the draws again."""
        self._random = random.Random(self._seed)

    def act(self, observation: Observation) -> Action:  # noqa: ARG002
        """Draw one action."""
        kinds: tuple[Callable[[], str], ...] = (self._call, self._files, self._nonsense)
        (draw,) = self._random.choices(kinds, weights=(6, 3, 1))
        return Action(draw())

    def _call(self) -> str:
        choose = self._random.choice
        name, arguments = choose(
            (
                ("read_skill", {"name": choose(_WORDS)}),
                ("read_skill", {}),
                ("list_files", {}),
                ("read_file", {"path": choose(_PATHS)}),
                ("write_file", {"path": choose(_PATHS), "content": self._kernel()}),
                ("edit_file", {"path": choose(_PATHS), "old": choose(_WORDS), "new": "1"}),
                ("search", {"pattern": choose(_WORDS)}),
                ("compile", {}),
                ("verify", {}),
                ("profile", {"detail": choose(("times", "everything", 3))}),
                ("submit", {}),
            )
        )
        return json.dumps({"name": name, "arguments": arguments})

    def _files(self) -> str:
        """Both files, and a call that looks at them; the code may be wrong."""
        files = {"model_new.py": _MODEL, "kernels/a.cu": self._kernel()}
        blocks = [f"```text file={path}\n{text}```" for path, text in files.items()]
        name = self._random.choice(("compile", "verify", "profile"))
        return "\n".join([*blocks, json.dumps({"name": name, "arguments": {}})])

    def _kernel(self) -> str:
        return _KERNEL % self._random.choice(_EXPRESSIONS)

    def _nonsense(self) -> str:
        return self._random.choice(_NONSENSE)
