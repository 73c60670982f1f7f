"""One candidate against one reference: hidden draws to prove it, new contents to race it.

The match passes descriptors and specs from one process to the other; it never maps a region, so
the judge's own process sees no tensor.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuda_gym.core import Build, DrawFindings, Submission, Task, as_plain
from cuda_gym.errors import Refused, WrongOutput
from cuda_gym.judge.sandbox.protocol import (
    Load,
    Loaded,
    Ran,
    Reload,
    Run,
    TensorSpec,
    Tree,
    read_spec,
)
from cuda_gym.judge.sandbox.reference_worker import ReferenceWorker
from cuda_gym.judge.sandbox.workers import CandidateWorker, FoundByCheck
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.verification.conclusions import read_draw

_SETTLE_S = 0.004
"""The reference's threads spin for a moment after their last parallel region."""


@dataclass(frozen=True, kw_only=True)
class Deadlines:
    """How long the other processes may take, in seconds."""

    build_s: float = 60.0
    load_s: float = 30.0
    run_s: float = 20.0
    """For the calls of one draw, or of one block."""
    reference_s: float = 120.0
    open_s: float = 600.0
    """Import torch, admit the task, compile the reference: once a task."""


class Match:
    """One submission on one task. Draws and weights come from one secret generator."""

    def __init__(
        self,
        reference: ReferenceWorker,
        candidate: CandidateWorker,
        *,
        opened: Mapping[str, Tree],
        deadlines: Deadlines,
        generator: random.Random,
    ) -> None:
        self._reference = reference
        self._candidate = candidate
        self._opened = opened
        self._deadlines = deadlines
        self._generator = generator

    def load(
        self,
        task: Task,
        submission: Submission,
        build: Build,
        *,
        num_threads: int,
        check_blocks: int = 0,
    ) -> Loaded:
        """Let the candidate import the submission and take its first weights.

        Raises:
            AgentError: it failed, crashed, timed out or was refused.
        """
        kernels = {path: text for path, text in submission.files if path.endswith(".cu")}
        specs, region = self._new_weights()
        message = Load(
            source=submission.text("model_new.py") or "",
            library=build.library,
            launchers=tuple(as_plain(launcher) for launcher in parse_launchers(kernels)),
            allowed_library=task.library,
            init_args=self._opened["init_args"],
            weights=specs,
            num_threads=num_threads,
            check_blocks=check_blocks,
        )
        try:
            return self._candidate.load(message, region, deadline_s=self._deadlines.load_s)
        finally:
            os.close(region)

    def prove(self) -> tuple[DrawFindings, ...]:
        """Run every kind of hidden draw the task can bear, half of them under other weights.

        Returns:
            The findings, up to the first draw that did not pass.

        Raises:
            AgentError: the candidate failed, or its outputs have a wrong form.
            Refused: outputs are right, but no kernel was launched for them.
        """
        first, *others = self._opened["draws"]
        self._generator.shuffle(others)
        plan = [first, *others, first]
        findings: list[DrawFindings] = []
        for number, kind in enumerate(plan):
            if number == len(plan) // 2:
                self.reload()
            findings.append(self._draw(kind, repeats=2 if number == 0 else 1))
            if not findings[-1].passed:
                break
        return tuple(findings)

    def check_memory(self) -> str:
        """Run one draw, the smallest the task can bear, in a checking build.

        Returns:
            What it found, a line of JSON each.

        Raises:
            AgentError: the candidate failed in another way.
        """
        contents, description = self._new_draw(self._opened["smallest"])
        try:
            return self._run(contents, description).findings
        except FoundByCheck as found:
            return str(found)
        finally:
            contents.close()

    def sides(self, dry: CandidateWorker) -> tuple[ReferenceBlocks, CandidateBlocks]:
        """The two sides of a race; `dry` is a candidate process that never loaded anything."""
        reference = ReferenceBlocks(self._reference, self._deadlines, self._generator)
        return reference, CandidateBlocks(self._candidate, dry, reference, self._deadlines)

    def _draw(self, kind: str, *, repeats: int) -> DrawFindings:
        contents, description = self._new_draw(kind, repeats)
        try:
            ran = self._run(contents, description)
        finally:
            contents.close()
        plain, _ = self._reference.call("compare", deadline_s=self._deadlines.reference_s)
        findings = read_draw(plain)
        if findings.passed:
            require_launches(ran, repeats)
        return findings

    def _new_draw(self, kind: str, repeats: int = 1) -> tuple[Contents, str]:
        value, (inputs, outputs) = self._reference.call(
            "draw",
            deadline_s=self._deadlines.reference_s,
            kind=kind,
            seed=self._generator.getrandbits(48),
            repeats=repeats,
        )
        return Contents.of(value, inputs, outputs), value["description"]

    def _run(self, contents: Contents, description: str) -> Ran:
        try:
            message = contents.message(len(contents.trees), poison=True)
            ran, _ = self._candidate.run(
                message, contents.inputs, contents.outputs, deadline_s=self._deadlines.run_s
            )
        except WrongOutput as error:
            raise WrongOutput(f"{error} (Inputs: {description}.)") from error
        return ran

    def _new_weights(self) -> tuple[Mapping[str, TensorSpec], int]:
        value, (region,) = self._reference.call(
            "weights",
            deadline_s=self._deadlines.reference_s,
            seed=self._generator.getrandbits(48),
        )
        return {name: read_spec(spec) for name, spec in value.items()}, region

    def reload(self) -> None:
        """Move the reference's weights, and the candidate's with them.

        Raises:
            AgentError: the candidate failed.
        """
        specs, region = self._new_weights()
        try:
            self._candidate.reload(Reload(weights=specs), region, deadline_s=self._deadlines.load_s)
        finally:
            os.close(region)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Inputs of some calls, and room for their outputs, as the reference handed them out."""

    trees: tuple[Tree, ...]
    specs: tuple[tuple[TensorSpec, ...], ...]
    inputs: int
    """Descriptor of the sealed region; owned."""
    outputs: int
    content_bytes: int

    @classmethod
    def of(cls, value: Tree, inputs: int, outputs: int) -> Contents:
        """Read the reference's answer, and own its descriptors."""
        return cls(
            trees=tuple(value["inputs"]),
            specs=tuple(tuple(read_spec(s) for s in call) for call in value["outputs"]),
            inputs=inputs,
            outputs=outputs,
            content_bytes=value["content_bytes"],
        )

    def message(self, count: int, *, poison: bool = False, dry: bool = False) -> Run:
        """The order to call on the first `count` of them."""
        return Run(inputs=self.trees[:count], outputs=self.specs[:count], poison=poison, dry=dry)

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.inputs)
        os.close(self.outputs)


class ReferenceBlocks:
    """The reference's side of a race."""

    def __init__(
        self, reference: ReferenceWorker, deadlines: Deadlines, generator: random.Random
    ) -> None:
        self._reference = reference
        self._deadlines = deadlines
        self._generator = generator
        self.contents: Contents | None = None

    def new_contents(self, count: int) -> int:
        """Make `count` inputs that nobody has seen; bytes of one call."""
        self.close()
        value, (inputs, outputs) = self._call(
            "contents", count=count, seed=self._generator.getrandbits(48)
        )
        self.contents = Contents.of(value, inputs, outputs)
        return self.contents.content_bytes

    def run(self, count: int) -> Sequence[float]:
        """Time the compiled reference on the first `count` of them."""
        value, _ = self._call("run", count=count)
        time.sleep(_SETTLE_S)
        times: list[float] = value["call_us"]
        return times

    def check(self, count: int) -> None:
        """Compare the candidate's outputs with the compiled reference's."""
        value, _ = self._call("check", count=count)
        ratio = float(value["error_ratio"])
        if not ratio <= 1.0:
            raise WrongOutput(
                "An output of a timed call is wrong, though the untimed ones were right: "
                f"its error is {ratio:.3g} times what is allowed. Every call has new inputs; "
                "nothing may be kept from an earlier one."
            )

    def close(self) -> None:
        """Give the contents back."""
        if self.contents is not None:
            self.contents.close()
            self.contents = None

    def _call(self, method: str, **arguments: Any) -> tuple[Tree, tuple[int, ...]]:
        return self._reference.call(method, deadline_s=self._deadlines.reference_s, **arguments)


class CandidateBlocks:
    """The candidate's side of a race."""

    def __init__(
        self,
        candidate: CandidateWorker,
        dry: CandidateWorker,
        reference: ReferenceBlocks,
        deadlines: Deadlines,
    ) -> None:
        self._candidate = candidate
        self._dry = dry
        self._reference = reference
        self._deadlines = deadlines

    def run(self, count: int, *, dry: bool = False) -> tuple[Sequence[float], float]:
        """Claimed microseconds of each call, and our own of the whole block."""
        contents = self._reference.contents
        assert contents is not None
        worker = self._dry if dry else self._candidate
        ran, wall_s = worker.run(
            contents.message(count, dry=dry),
            contents.inputs,
            contents.outputs,
            deadline_s=self._deadlines.run_s * 3,
        )
        if not dry:
            require_launches(ran, count)
        return [ns / 1000.0 for ns in ran.call_ns], wall_s * 1e6


def require_launches(ran: Ran, num_calls: int) -> None:
    """A right output that no kernel made was made on the host.

    Raises:
        Refused: with the counts.
    """
    if ran.launches + ran.library_calls < num_calls:
        raise Refused(
            f"The outputs are right, but {num_calls} calls launched {ran.launches} kernels. "
            "Compute in a __global__ kernel, and launch it in every call."
        )
