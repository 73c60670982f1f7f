"""The reference's end of a sealed block: the key, the page of the latest gate, and what was told through it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cuda_gym.errors import Refused, WorkerLost
from cuda_gym.judge.sandbox.sealed_page import SealedPage, Witnessed, new_key
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["SealedGate"]


class SealedGate:
    """One key, and one gate after the other: whoever runs on the same contents has one of its own."""

    def __init__(self) -> None:
        self.key = new_key()
        self._page: SealedPage | None = None
        self._seen: Witnessed | None = None

    def renew(self, *, num_outputs: int) -> int:
        """A new gate, shut; the descriptor of its page, for somebody else to own."""
        self._close()
        self._page = SealedPage.create(num_outputs=num_outputs)
        return self._page.export()

    def witness(self, *, queue_s: float, most_s: float) -> Witnessed:
        """Open the gate as soon as a block is queued, and wait until it is over."""
        assert self._page is not None
        self._seen = self._page.witness(self.key, queue_s=queue_s, most_s=most_s)
        return self._seen

    def require_finished(self, device: WorkerDevice, returned: Sequence[torch.Tensor]) -> None:
        """What is in the outputs now was there when the block was said to be over.

        Args:
            device: Where they are.
            returned: All of them, in the order of the calls.

        Raises:
            Refused: it was not.
            WorkerLost: nobody has waited for the block.
        """
        seen, sealing = self._seen, device.sealing
        if seen is None or sealing is None:
            raise WorkerLost("Nobody has waited for the block that is to be checked.")
        if seen.digest != sealing.digest_of(returned):
            raise Refused(
                "Outputs changed after the device was said to be done with them. All work must be "
                "done when forward returns, in the order of the current stream."
            )

    def _close(self) -> None:
        if self._page is not None:
            self._page.close()
            self._page = None

    def __del__(self) -> None:
        self._close()
