"""What is found out about one mutant: by our judge, by the rules of others, by the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.mutation.choice import mutants_of
from benchmarks.mutation.edits import Mutant
from benchmarks.mutation.records import Record
from benchmarks.mutation.right_kernels import RightKernel
from benchmarks.mutation.trials import Trials

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import JUDGE_VERSION
from cuda_gym.errors import AgentError, MachineError
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.toolchains.cpu import CpuToolchain

__all__ = ["Measurement"]

_DEADLINES: Final = Deadlines(load_s=15.0, run_s=15.0)
"""Shorter than a user's: many mutants never end."""


class Measurement:
    """Compiles and judges mutants, one after another.

    Args:
        folder: For what is needed only while it runs; several may share one.
        num_draws: Of the oracle, at each shape.
        num_threads: Of a submission that is judged; None takes every core.
    """

    def __init__(self, folder: Path, *, num_draws: int, num_threads: int | None = None) -> None:
        self._toolchain = CpuToolchain()
        self._trials = Trials(folder, num_draws=num_draws)
        config = JudgeConfig(deadlines=_DEADLINES, memory_bytes=4 << 30, num_threads=num_threads)
        self._judge = Judge(Device("cpu"), config)

    def all_mutants(self, kernel: RightKernel) -> list[Mutant]:
        """Every mutant of a right kernel.

        Raises:
            RuntimeError: the right kernel is not right.
        """
        build = self._toolchain.build(Submission.of(kernel.files))
        return list(mutants_of(kernel, self._trials.usual_sizes(kernel, build.library)))

    def measure(self, kernel: RightKernel, mutant: Mutant) -> Record:
        """Judge one mutant by all rules.

        Raises:
            RuntimeError: its right kernel is not right.
            MachineError, TaskError: nothing is known of it.
        """
        submission = kernel.with_text(mutant.path, mutant.text)
        files = {**kernel.files, mutant.path: mutant.text}
        right = self._toolchain.build(Submission.of(kernel.files))
        self._trials.calibrate(kernel, right.library)
        try:
            library = self._toolchain.build(submission).library
        except AgentError as error:
            return Record.of(mutant, why_not=f"{type(error).__name__}: {error}"[:300])
        kernelbench = self._trials.by_rule("kernelbench", kernel, files, library)
        cuda_agent = self._trials.by_rule("cuda_agent", kernel, files, library)
        if kernelbench["ends"]:
            oracle = self._trials.by_oracle(kernel, files, library)
        else:
            oracle = {"equivalent": False, "where": "it does not end"}
        ours, fact = self._verify(kernel, submission, ends=kernelbench["ends"])
        return Record.of(
            mutant,
            ours=ours.value,
            fact=fact[:300],
            kernelbench=kernelbench["passes"],
            cuda_agent=cuda_agent["passes"],
            judge=JUDGE_VERSION,
            **oracle,
        )

    def close(self) -> None:
        """End all processes."""
        self._trials.close()
        self._judge.close()

    def _verify(
        self, kernel: RightKernel, submission: Submission, *, ends: bool
    ) -> tuple[Outcome, str]:
        """Our judge's outcome.

        What a busy machine may have caused is asked once more: a machine that failed, and a deadline
        that was missed by what ends elsewhere.

        Raises:
            MachineError: it failed again.
        """
        doubtful = {None, Outcome.MACHINE_ERROR} | ({Outcome.TIMEOUT} if ends else set())
        findings = self._judge.verify(kernel.task, submission)
        if findings.outcome in doubtful:
            findings = self._judge.verify(kernel.task, submission)
        if findings.outcome in (None, Outcome.MACHINE_ERROR):
            raise MachineError(findings.summary)
        return findings.outcome, findings.summary
