"""`cuda-gym show`: an episode that was recorded, to read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from cuda_gym.cli.exit_codes import ExitCode, UsageError

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen
    from cuda_gym.core.episode import Episode

__all__ = ["Show"]


@dataclass(frozen=True, kw_only=True)
class Show:
    """Show an episode that `cuda-gym play --record` has kept.

    Exit codes:
    - 0 shown
    - 2 there is no such file or episode, or a line of it is no episode
    """

    record: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A file of episodes, one a line."""
    episode: int = 1
    """Which of them, from 1."""
    markdown: bool = False
    """Print the page as Markdown text, to be kept as a file."""
    title: str = ""
    """The heading of the page; left out, the task's id."""
    json: bool = False
    """Print the episode as one JSON document."""

    def run(self, screen: Screen) -> ExitCode:
        """Show it."""
        from rich.markdown import Markdown

        from cuda_gym.cli.episode_page import episode_page
        from cuda_gym.core.plain import as_plain

        episode = self._episode()
        page = episode_page(episode, title=self.title, with_reading=self.markdown)
        if self.markdown:
            screen.show_plain(page)
        else:
            screen.show(Markdown(page, code_theme="ansi_dark"))
        screen.give(as_plain(episode))
        return ExitCode.OK

    def _episode(self) -> Episode:
        from cuda_gym.episode_record import read_episodes

        try:
            episodes = read_episodes(self.record)
        except OSError as error:
            raise UsageError(
                f"The record {str(self.record)!r} cannot be read: {error.strerror}. "
                "Give a file that `cuda-gym play --record FILE` has written."
            ) from None
        except ValueError as error:
            raise UsageError(str(error)) from None
        if not 1 <= self.episode <= len(episodes):
            raise UsageError(
                f"{self.record.name} has {len(episodes)} episodes; there is no number {self.episode}."
            )
        return episodes[self.episode - 1]
