"""Where kernels run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Device"]


@dataclass(frozen=True)
class Device:
    """Where kernels run: `cpu`, or `cuda:N`.

    >>> Device.parse("cuda:1")
    Device(kind='cuda', index=1)
    >>> str(Device.parse("cpu"))
    'cpu'
    """

    kind: str
    """`cpu` or `cuda`."""
    index: int = 0
    """Which GPU; 0 on `cpu`."""

    @classmethod
    def parse(cls, text: str) -> Device:
        """Read `cpu`, `cuda` or `cuda:N`.

        Raises:
            ValueError: for anything else; `auto` is resolved by the judge, which knows the machine.
        """
        kind, _, index = text.partition(":")
        if text == "cpu":
            return cls("cpu")
        if kind == "cuda" and (index.isdecimal() if ":" in text else not index):
            return cls("cuda", int(index or 0))
        raise ValueError(f"There is no device {text!r}. Devices are 'cpu', 'cuda:0', 'cuda:1', ...")

    def __str__(self) -> str:
        return "cpu" if self.kind == "cpu" else f"{self.kind}:{self.index}"
