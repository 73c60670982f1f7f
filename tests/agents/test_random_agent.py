from __future__ import annotations

from cuda_gym.agents.random_agent import RandomAgent
from cuda_gym.core.episode import Observation, Stage
from cuda_gym.envs.actions import parse_action
from cuda_gym.envs.tools import TOOL_NAMES
from cuda_gym.errors import BadAction

START = Observation(text="", stage=Stage.START)


def _texts(agent: RandomAgent, num_actions: int) -> list[str]:
    agent.reset(START)
    return [agent.act(START).text for _ in range(num_actions)]


def test_equal_seeds_say_the_same_and_others_do_not() -> None:
    assert _texts(RandomAgent(3), 20) == _texts(RandomAgent(3), 20)
    assert _texts(RandomAgent(3), 20) != _texts(RandomAgent(4), 20)
    assert _texts(RandomAgent(), 20) != _texts(RandomAgent(), 20)


def test_every_tool_is_tried_and_so_is_what_no_tool_answers() -> None:
    names = set()
    num_unreadable = 0
    for text in _texts(RandomAgent(0), 500):
        try:
            parsed = parse_action(text)
        except BadAction:
            num_unreadable += 1
            continue
        if parsed.call is not None:
            names.add(parsed.call.name)
    assert names >= set(TOOL_NAMES)
    assert 10 < num_unreadable < 100
