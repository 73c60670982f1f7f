"""Plays an episode while somebody watches: each action is announced before it is carried out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from cuda_gym.agents.agent import Agent
from cuda_gym.cli.screen import FIRST_RUN, Screen
from cuda_gym.core.episode import Action, Episode, Observation, Turn
from cuda_gym.envs.actions import ParsedAction, ToolCall, parse_action
from cuda_gym.envs.session import Session
from cuda_gym.episode import play
from cuda_gym.errors import BadAction

__all__ = ["Watcher", "call_text", "play_watched", "read_action"]

_SLOW = {
    "compile": "compile: rules and build",
    "verify": "verify: hidden draws of inputs",
    "profile": "profile: hidden draws, then a race against torch.compile",
    "submit": "submit: the best files are judged afresh",
}
"""What is shown while a tool runs that takes more than a moment."""
_LAST = "the last turn: the best files are judged afresh"

Watcher = Callable[[int, Action, Turn | None], None]
"""Told the number of a turn, from 1, and its action; then again, with what came of it."""


def play_watched(session: Session, agent: Agent, screen: Screen, watcher: Watcher) -> Episode:
    """Play one episode.

    Args:
        session: With its task.
        agent: Who acts.
        screen: Where waiting is shown.
        watcher: Who watches.
    """
    is_first_run = True

    def announce(number: int, action: Action) -> None:
        nonlocal is_first_run
        watcher(number, action, None)
        call = read_action(action).call
        what = _SLOW.get("" if call is None else call.name)
        if what is None and number == session.rules.max_turns:
            what = _LAST
        if what is not None:
            runs = what != _SLOW["compile"]
            why_long = FIRST_RUN if runs and is_first_run else ""
            is_first_run = is_first_run and not runs
            waiting.enter_context(screen.waiting(what, why_long=why_long))

    def turn_is_over(number: int, turn: Turn) -> None:
        waiting.close()
        watcher(number, turn.action, turn)

    with contextlib.ExitStack() as waiting:
        return play(session, _AnnouncedAgent(agent, announce), on_turn=turn_is_over)


def read_action(action: Action) -> ParsedAction:
    """What an action asks for; nothing where it cannot be read."""
    try:
        return parse_action(action.text)
    except BadAction:
        return ParsedAction()


def call_text(call: ToolCall) -> str:
    """A call as code.

    >>> call_text(ToolCall("read_skill", {"name": "launchers"}))
    "read_skill(name='launchers')"
    """
    arguments = ", ".join(f"{name}={_shortened(value)}" for name, value in call.arguments.items())
    return f"{call.name[:60]}({arguments})"


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class _AnnouncedAgent:
    """An agent whose actions somebody hears before the environment does."""

    def __init__(self, agent: Agent, announce: Callable[[int, Action], None]) -> None:
        self._agent = agent
        self._announce = announce
        self._turn = 0

    @property
    def name(self) -> str:
        """That of the agent."""
        return self._agent.name

    def reset(self, observation: Observation) -> None:
        """Begin an episode."""
        self._turn = 0
        self._agent.reset(observation)

    def act(self, observation: Observation) -> Action:
        """Act, and say so."""
        action = self._agent.act(observation)
        self._turn += 1
        if isinstance(action, Action):  # otherwise play() says what is wrong with the agent
            self._announce(self._turn, action)
        return action
