"""Inputs of some calls, and room for their outputs, on their way from the reference to a candidate.

Only descriptors and specs are passed on; no region is ever mapped here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from cuda_gym.judge.sandbox.draw_plan import called
from cuda_gym.judge.sandbox.messages import (
    RegionSpec,
    Run,
    TensorSpec,
    Tree,
)
from cuda_gym.judge.sandbox.protocol import read_spec

__all__ = ["Contents"]


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Inputs of some calls, and room for their outputs, as the reference handed them out."""

    trees: tuple[Tree, ...]
    specs: tuple[tuple[TensorSpec, ...], ...]
    input_region: RegionSpec
    output_region: RegionSpec
    inputs: int
    """Descriptor of their region; owned."""
    outputs: int
    content_bytes: int

    @classmethod
    def of(cls, value: Tree, inputs: int, outputs: int) -> Contents:
        """Read the reference's answer, and own its descriptors."""
        return cls(
            trees=tuple(value["inputs"]),
            specs=tuple(tuple(read_spec(s) for s in call) for call in value["outputs"]),
            input_region=RegionSpec(**value["input_region"]),
            output_region=RegionSpec(**value["output_region"]),
            inputs=inputs,
            outputs=outputs,
            content_bytes=value["content_bytes"],
        )

    def message(
        self,
        count: int,
        *,
        dropped: int = 0,
        poison: bool = False,
        dry: bool = False,
        gate_us: float = 0.0,
        time_kernels: bool = False,
        stays: bool = False,
    ) -> Run:
        """The order to call on the first `count` of them, behind the spare one where some are dropped."""
        chosen = called(count, dropped)
        return Run(
            input_region=self.input_region,
            output_region=self.output_region,
            inputs=tuple(self.trees[i] for i in chosen),
            outputs=tuple(self.specs[i] for i in chosen),
            poison=poison,
            dry=dry,
            gate_ns=round(gate_us * 1000.0),
            time_kernels=time_kernels,
            stays=stays,
        )

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.inputs)
        os.close(self.outputs)
