"""The judge's end of a reference process. It is ours: if it dies or falls silent, `WorkerLost`."""

from __future__ import annotations

import threading
import time

import cuda_gym.errors
from cuda_gym.errors import CudaGymError, WorkerLost
from cuda_gym.judge.sandbox.channel import Channel, DeadlinePassed
from cuda_gym.judge.sandbox.messages import (
    Fault,
    Reply,
    Request,
    Tree,
)
from cuda_gym.judge.sandbox.processes import end, spawn
from cuda_gym.judge.sandbox.protocol import ProtocolError


class ReferenceWorker:
    """The judge's end of one reference process. One request at a time."""

    def __init__(self) -> None:
        self._channel, theirs = Channel.pair()
        try:
            self._process = spawn("cuda_gym.judge.sandbox.reference_process", theirs)
        except OSError:
            self._channel.close()
            raise
        self._lock = threading.Lock()

    @property
    def lost(self) -> bool:
        """Whether it is gone."""
        return self._process.poll() is not None

    def call(
        self, method: str, *, deadline_s: float, **arguments: Tree
    ) -> tuple[Tree, tuple[int, ...]]:
        """Call one of its methods.

        Returns:
            Its value, and descriptors that the caller owns.

        Raises:
            CudaGymError: what the method raised.
            WorkerLost: it is gone or silent.
        """
        with self._lock:
            try:
                self._channel.send(Request(method=method, arguments=arguments))
                reply, descriptors = self._channel.receive(
                    Reply, Fault, deadline=time.monotonic() + deadline_s
                )
            except DeadlinePassed:
                self.close()
                raise WorkerLost(
                    f"The reference did not finish {method!r} within {deadline_s:g} s."
                ) from None
            except ProtocolError as error:
                self.close()
                raise WorkerLost(f"The reference was lost during {method!r}: {error}") from error
        if isinstance(reply, Fault):
            kind = getattr(cuda_gym.errors, reply.error, WorkerLost)
            error_: CudaGymError = kind(reply.message)
            raise error_
        return reply.value, descriptors

    def close(self) -> None:
        """End it; safe to call twice."""
        self._channel.hang_up()
        end(self._process)
