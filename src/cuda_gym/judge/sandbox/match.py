"""One candidate against one reference: hidden draws to prove it, new contents to race it.

The match passes descriptors and specs from one process to the other. The judge's own process looks at no tensor:
at most it moves the bytes of outputs, see `outside_memory`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from cuda_gym.core.findings import Build, DrawFindings
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Profile, Timing
from cuda_gym.errors import AgentError, WrongOutput
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.profiling.baselines import Baseline
from cuda_gym.judge.profiling.race import race
from cuda_gym.judge.profiling.timing import summarise
from cuda_gym.judge.profiling.timing_plan import TimingPlan
from cuda_gym.judge.sandbox.blocks import CandidateBlocks, ReferenceBlocks, require_launches
from cuda_gym.judge.sandbox.candidate_faults import (
    CandidateCrash,
    FoundByCheck,
    WrittenOver,
)
from cuda_gym.judge.sandbox.contents import Contents
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.draw_plan import PlannedDraw, plan_draws, plan_hidden
from cuda_gym.judge.sandbox.kernel_claims import read_kernel_claims
from cuda_gym.judge.sandbox.loading import load_message
from cuda_gym.judge.sandbox.messages import (
    Loaded,
    Ran,
    RegionSpec,
    Reload,
    TensorSpec,
    Tree,
)
from cuda_gym.judge.sandbox.protocol import read_spec
from cuda_gym.judge.sandbox.reference_worker import ReferenceWorker
from cuda_gym.judge.sandbox.workers import CandidateWorker
from cuda_gym.judge.verification.conclusions import read_draw

__all__ = ["Match"]


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
        self._draws = plan_draws(opened, generator)
        self._hidden = plan_hidden(opened, generator, weights=self._draws[-1].weights)
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
        message = load_message(
            task,
            submission,
            build,
            init_args=self._opened["init_args"],
            num_threads=num_threads,
            check_blocks=check_blocks,
        )
        self._candidate.load(message, deadline_s=self._deadlines.load_s)
        self._candidate.forbid(deadline_s=self._deadlines.load_s)
        return self.begin()

    def begin(self) -> Loaded:
        """Let a candidate that has imported the submission take its first weights.

        Raises:
            AgentError: it failed, crashed, timed out or was refused.
        """
        return self.reload(self._draws[0].weights)

    def prove(self) -> tuple[DrawFindings, ...]:
        """Run every kind of hidden draw the task can bear, half of them under other weights.

        Returns:
            The findings, up to the first draw that did not pass.

        Raises:
            AgentError: the candidate failed, or its outputs have a wrong form.
            Refused: outputs are right, but no kernel was launched for them.
        """
        findings: list[DrawFindings] = []
        weights = self._draws[0].weights
        for number, draw in enumerate(self._draws):
            if draw.weights != weights:
                weights = draw.weights
                self.reload(weights)
            findings.append(self._draw(draw, repeats=2 if number == 0 else 1))
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

    def call_once(self, *, smallest: bool) -> None:
        """Call forward on one draw, and compare nothing: a tool is watching.

        Memory is not poisoned: a tool that looks for reads of fresh memory must find it fresh.

        Args:
            smallest: Whether the draw is the smallest the task can bear, or an ordinary one.

        Raises:
            AgentError: the candidate failed.
        """
        kind = self._opened["smallest"] if smallest else self._opened["draws"][0]
        contents, description = self._new_draw(kind)
        try:
            self._run(contents, description, poison=False)
        finally:
            contents.close()

    def race(
        self,
        dry: CandidateWorker | None,
        plan: TimingPlan,
        baseline: Callable[[], Baseline],
        build: Build,
        *,
        prepare_ns: int | None,
    ) -> tuple[Timing, Profile]:
        """Time the candidate and the compiled reference in turns; then, in a few calls, its kernels.

        Args:
            dry: A candidate process that never loaded anything; None where sealed blocks do without.
            plan: How long, how often, and what is left out.
            baseline: The best times ever of the reference; they may improve in this race.
            build: What the candidate has loaded.
            prepare_ns: What the candidate's `prepare()` took, where there is one.

        Raises:
            AgentError: the candidate failed, was wrong, or its clock is refused.
        """
        try:
            return self._race(dry, plan, baseline, build, prepare_ns)
        except WrittenOver:  # from now on each of its outputs is copied in the call
            weights = self._draws[-1].weights
            self._hidden = plan_hidden(self._opened, self._generator, weights=weights)
            return self._race(dry, plan, baseline, build, prepare_ns)

    def _race(
        self,
        dry: CandidateWorker | None,
        plan: TimingPlan,
        baseline: Callable[[], Baseline],
        build: Build,
        prepare_ns: int | None,
    ) -> tuple[Timing, Profile]:
        """See `race`."""
        beside = plan.outputs_beside * int(self._opened["written_bytes"])
        plan = replace(plan, max_content_bytes=max(0, plan.max_content_bytes - beside))
        ours = ReferenceBlocks(
            self._reference,
            self._deadlines,
            self._generator,
            hidden=self._hidden,
            settle_s=plan.settle_s,
        )
        theirs = CandidateBlocks(self._candidate, dry, ours, self._deadlines)
        try:
            raced = race(
                ours,
                theirs,
                plan,
                best_compile_us=baseline().compile_us,
                waited_us=telemetry.waited_for_cores_us if plan.counts_waiting else float,
            )
            profile = _profile(theirs, build)
        finally:
            ours.close()
        best = baseline()
        timing = summarise(
            raced.pairs,
            plan,
            timer=raced.timer,
            audits=raced.audits,
            host_us=raced.host_us if plan.longest_gate_us else None,
            first_call_us=raced.first_call_us,
            best_compile_us=best.compile_us,
            eager_over_compile=best.eager_over_compile,
            prepare_us=None if prepare_ns is None else prepare_ns / 1000.0,
        )
        return replace(timing, num_left_out=ours.num_left_out), profile

    def _draw(self, draw: PlannedDraw, *, repeats: int) -> DrawFindings:
        contents, description = self._new_draw(draw.kind, repeats, seed=draw.seed)
        try:
            ran = self._run(contents, description)
        finally:
            contents.close()
        findings = self.compare()
        if findings.passed:
            require_launches(ran, repeats)
        return findings

    def compare(self) -> DrawFindings:
        """How the outputs of the latest draw come out.

        Raises:
            WrongOutput: the candidate has changed its inputs.
        """
        plain, _ = self._reference.call("compare", deadline_s=self._deadlines.reference_s)
        return read_draw(plain)

    def _new_draw(
        self, kind: str, repeats: int = 1, *, seed: int | None = None
    ) -> tuple[Contents, str]:
        value, (inputs, outputs) = self._reference.call(
            "draw",
            deadline_s=self._deadlines.reference_s,
            kind=kind,
            seed=self._generator.getrandbits(48) if seed is None else seed,
            repeats=repeats,
        )
        return Contents.of(value, inputs, outputs), value["description"]

    def _run(self, contents: Contents, description: str, *, poison: bool = True) -> Ran:
        try:
            message = contents.message(len(contents.trees), poison=poison)
            ran, _ = self._candidate.run(
                message, contents.inputs, contents.outputs, deadline_s=self._deadlines.run_s
            )
        except (WrongOutput, CandidateCrash) as error:
            raise type(error)(f"{error} (Inputs: {description}.)") from error
        return ran

    def _new_weights(self, seed: int) -> tuple[RegionSpec, Mapping[str, TensorSpec], int]:
        value, (region,) = self._reference.call(
            "weights", deadline_s=self._deadlines.reference_s, seed=seed
        )
        specs = {name: read_spec(spec) for name, spec in value["specs"].items()}
        return RegionSpec(**value["region"]), specs, region

    def reload(self, seed: int | None = None) -> Loaded:
        """Move the reference's weights, and the candidate's with them.

        Raises:
            AgentError: the candidate failed.
        """
        seed = self._generator.getrandbits(48) if seed is None else seed
        spec, specs, region = self._new_weights(seed)
        try:
            return self._candidate.reload(
                Reload(region=spec, weights=specs), region, deadline_s=self._deadlines.load_s
            )
        finally:
            os.close(region)


def _profile(theirs: CandidateBlocks, build: Build) -> Profile:
    """Where the time of a call goes. The race is over: what fails here costs the answer, no more."""
    try:
        return read_kernel_claims(theirs.profile(), build)
    except AgentError:
        return Profile()
