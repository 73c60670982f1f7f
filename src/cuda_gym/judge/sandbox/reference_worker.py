"""The judge's end of a reference process. It is ours: if it dies or falls silent, `WorkerLost`."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

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
        with self.calling(method, deadline_s=deadline_s, **arguments) as answer:
            return answer()

    @contextlib.contextmanager
    def calling(
        self, method: str, *, deadline_s: float, **arguments: Tree
    ) -> Iterator[Callable[[], tuple[Tree, tuple[int, ...]]]]:
        """Call a method, and do something else until its answer is asked for, which is what this gives.

        Raises:
            CudaGymError: what the method raised; when it is asked.
            WorkerLost: it is gone or silent.
        """
        was_asked = False

        def answer() -> tuple[Tree, tuple[int, ...]]:
            nonlocal was_asked
            was_asked = True
            with self._loss_told(method, deadline_s):
                reply, descriptors = self._channel.receive(
                    Reply, Fault, deadline=time.monotonic() + deadline_s
                )
            if isinstance(reply, Fault):
                kind = getattr(cuda_gym.errors, reply.error, WorkerLost)
                error: CudaGymError = kind(reply.message)
                raise error
            return reply.value, descriptors

        with self._lock:
            with self._loss_told(method, deadline_s):
                self._channel.send(Request(method=method, arguments=arguments))
            try:
                yield answer
            except BaseException:
                if not was_asked:  # nobody may take it for the answer to something else
                    with contextlib.suppress(CudaGymError):
                        for descriptor in answer()[1]:
                            os.close(descriptor)
                raise

    @contextlib.contextmanager
    def _loss_told(self, method: str, deadline_s: float) -> Iterator[None]:
        try:
            yield
        except DeadlinePassed:
            self.close()
            raise WorkerLost(
                f"The reference did not finish {method!r} within {deadline_s:g} s."
            ) from None
        except ProtocolError as error:
            self.close()
            raise WorkerLost(f"The reference was lost during {method!r}: {error}") from error

    def close(self) -> None:
        """End it; safe to call twice."""
        self._channel.hang_up()
        end(self._process)
