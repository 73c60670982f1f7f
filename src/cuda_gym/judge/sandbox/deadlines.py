"""How long each of the other processes may take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Deadlines"]


@dataclass(frozen=True, kw_only=True)
class Deadlines:
    """How long the other processes may take, in seconds."""

    build_s: float = 60.0
    load_s: float = 30.0
    """To import and construct the model; to forbid torch's operators; to take weights: for each."""
    run_s: float = 20.0
    """For the calls of one draw, or of one block."""
    reference_s: float = 120.0
    open_s: float = 600.0
    """Import torch, admit the task, compile the reference: once a task."""
