"""All agents by name, and agents in files of one's own as `path/to/file.py:ClassName`."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cuda_gym.agents.agent import Agent
from cuda_gym.agents.random_agent import RandomAgent
from cuda_gym.agents.scripted import ScriptedAgent
from cuda_gym.errors import UnknownAgent, did_you_mean

__all__ = ["AGENTS", "load_agent"]

AGENTS: Mapping[str, Callable[[str, int | None], Agent]] = {
    "scripted": lambda task_id, _: ScriptedAgent(task_id),
    "random": lambda _, seed: RandomAgent(seed),
}
"""What makes each agent of ours, for a task and under a seed."""


def load_agent(spec: str, *, task_id: str, seed: int | None = None) -> Agent:
    """Make the agent that a name, or a class in a file, stands for.

    The class of a file is called with `task_id` and `seed` where its constructor has parameters of
    these names. What its code raises is not caught: the traceback is what its author needs.

    Args:
        spec: A name of `AGENTS`, or `path/to/file.py:ClassName`.
        task_id: What the agent is going to play.
        seed: For agents that draw; None draws one.

    Raises:
        UnknownAgent: there is no such agent, file or class, or it does not fit; with the remedy.
    """
    path, colon, class_name = spec.rpartition(":")
    if colon and path.endswith(".py"):
        return _from_file(Path(path), class_name, {"task_id": task_id, "seed": seed})
    if spec not in AGENTS:
        if spec.endswith(".py"):
            raise UnknownAgent(f"There is no agent {spec[:200]!r}. {_BEHIND}")
        raise UnknownAgent(
            f"There is no agent {spec[:200]!r}.{did_you_mean(spec, AGENTS)} "
            f"Agents are {', '.join(AGENTS)}, or path/to/file.py:ClassName."
        )
    return AGENTS[spec](task_id, seed)


_BEHIND = "Name the class behind the colon: path/to/file.py:ClassName."


def _from_file(path: Path, class_name: str, offers: Mapping[str, Any]) -> Agent:
    if not path.is_file():
        raise UnknownAgent(f"There is no file {str(path)!r} for the agent. Check the path.")
    module_name = f"cuda_gym_agent_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickle look a class's module up here
    spec.loader.exec_module(module)
    found = getattr(module, class_name, None)
    if not inspect.isclass(found):
        classes = [name for name, _ in inspect.getmembers(module, inspect.isclass)]
        raise UnknownAgent(
            f"{str(path)!r} has no class {class_name!r}.{did_you_mean(class_name, classes)} "
            f"{_BEHIND}"
        )
    parameters = inspect.signature(found).parameters
    _check_constructor(f"{class_name} in {str(path)!r}", parameters, offers)
    agent = found(**{name: value for name, value in offers.items() if name in parameters})
    if not isinstance(agent, Agent):
        missing = [name for name in ("name", "reset", "act") if not hasattr(agent, name)]
        raise UnknownAgent(
            f"{class_name} in {str(path)!r} is no agent: it has no {', no '.join(missing)}. "
            "An agent has `name`, `reset(observation)` and `act(observation) -> Action`."
        )
    return agent


def _check_constructor(
    who: str, parameters: Mapping[str, inspect.Parameter], offers: Mapping[str, Any]
) -> None:
    """Whether a class can be called with what is offered.

    Raises:
        UnknownAgent: it wants more.
    """
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    wanted = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in starred
        and (name not in offers or parameter.kind is inspect.Parameter.POSITIONAL_ONLY)
    ]
    if wanted:
        raise UnknownAgent(
            f"{who} cannot be made: its constructor wants {', '.join(wanted)}, and only "
            f"{' and '.join(offers)} are given, by name. Give what else there is a default."
        )
