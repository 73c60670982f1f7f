"""A turn on the terminal, for a human who watches."""

from __future__ import annotations

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from cuda_gym.core.episode import Action, Observation

__all__ = ["print_turn"]


def print_turn(
    action: Action | None,
    observation: Observation,
    reward: float,
    *,
    console: Console | None = None,
) -> None:
    """Print what the agent said, what it was told, and what it was paid.

    Args:
        action: None for the first observation.
        observation: What the agent was told.
        reward: What the turn paid.
        console: Where to; None is the standard output.
    """
    console = console or Console()
    if action is not None:
        console.print(Panel(Text(action.text), title="agent", title_align="left", style="cyan"))
    title = (
        observation.stage.value if action is None else f"{observation.stage.value}, {reward:+.3g}"
    )
    console.print(Panel(Text(observation.text), title=title, title_align="left"))
