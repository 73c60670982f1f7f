"""The process of a candidate, as the judge holds it: stopped, let go on, killed, and asked what became of it.

All through its pidfd, so that a number which somebody else has got meanwhile is never meant.

Covered: one that ends by itself, by a fault, or with what watches over it. Not covered: what it says (`workers`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Sequence

from cuda_gym.errors import CandidateError, WorkerLost
from cuda_gym.judge.sandbox.candidate_faults import describe_end
from cuda_gym.judge.sandbox.channel import Drain
from cuda_gym.judge.sandbox.freezing import stopped_at
from cuda_gym.judge.sandbox.messages import CodeRange, Ended

__all__ = ["CandidateProcess"]

_ENDED_ALREADY = "The submission's process has ended already."
_LAST_WORDS_S = 0.5
_GONE_S = 2.0
_TOLD_S = 5.0
"""How long it may take until what watches over a process that is gone has told how it ended."""
_QUIT_EXIT = 124
"""Where it is asked what it is doing, the runtime writes one line and leaves with this code."""


class CandidateProcess:
    """One of them.

    Args:
        printed: What it prints; owned.
        ended: Set once it is gone.
        pidfd: Of it; owned.
        freezes: Whether it is ever stopped.
    """

    def __init__(
        self, printed: Drain, ended: threading.Event, pidfd: int, *, freezes: bool
    ) -> None:
        self.drain = printed
        """What it prints, to be read while its answer is waited for."""
        self.pidfd = pidfd
        """-1 once it was closed."""
        self.end: Ended | None = None
        """How it ended; set before `ended`."""
        self._ended = ended
        self._freezes = freezes

    @property
    def is_closed(self) -> bool:
        """Whether nobody holds it any more."""
        return self.pidfd < 0

    @property
    def ended(self) -> bool:
        """Whether it is gone, or was closed."""
        return self.is_closed or self._ended.is_set()

    @property
    def printed(self) -> str:
        """What it has printed so far, head and tail."""
        if not self.drain.closed:
            self.drain.read()
        return self.drain.text

    def freeze(self) -> None:
        """Tell it to stop; at least find out whether it is there.

        Raises:
            CandidateError: it was closed.
        """
        self._signal(signal.SIGSTOP if self._freezes else None)

    def thaw(self) -> None:
        """Let it go on. Raises like `freeze`."""
        self._signal(signal.SIGCONT if self._freezes else None)

    def stopped_at(self, deadline: float) -> float | None:
        """After `freeze`: wait until all of it has stopped; when, or None where it never is.

        Raises:
            DeadlinePassed: it has not.
        """
        return stopped_at(self.pidfd, deadline) if self._freezes else None

    def wait_until_gone(self, timeout_s: float = _GONE_S) -> bool:
        """Until its memory has been given back, which takes a core for a while; whether it has in time."""
        return self._ended.wait(timeout=timeout_s)

    def last_words(self) -> str:
        """What its kernel is doing at its deadline, if the runtime answers; it ends then."""
        self._signal(signal.SIGQUIT)
        self._ended.wait(timeout=_LAST_WORDS_S)
        lines = self.printed.splitlines()
        answered = self.end is not None and self.end.exit_code == _QUIT_EXIT
        return f"At that moment: {lines[-1].strip()}." if answered and lines else ""

    def how_it_ended(self, closed: Sequence[CodeRange]) -> str:
        """The fault, the signal or the exit code.

        Args:
            closed: The code that it may not run.

        Raises:
            WorkerLost: nobody knows, for what watches over it is gone, too.
            Refused: it ran what is closed.
        """
        gone = self._ended.wait(timeout=_TOLD_S)
        for _ in range(64):
            if self.drain.closed:
                break
            self.drain.read()
        # One that has only closed its channel is still there, and that is its own doing.
        if gone and (self.end is None or self.end.exit_code is self.end.signal is None):
            raise WorkerLost("The process that watches over a candidate was lost.")
        return describe_end(self.end, self.drain.text, closed)

    def close(self) -> None:
        """Kill it with everything it started; safe to call twice."""
        if not self.is_closed:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            os.close(self.pidfd)
            self.pidfd = -1
            self.drain.close()

    def _signal(self, number: signal.Signals | None) -> None:
        if self.is_closed:
            raise CandidateError(_ENDED_ALREADY)
        if number is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, number)
