"""cuda_gym: a Gymnasium environment in which agents learn to write CUDA kernels.

Importing it registers the environments and loads neither torch nor a compiler; every other name is
loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from cuda_gym.agents.agent import Agent
    from cuda_gym.agents.registry import load_agent
    from cuda_gym.core.device import Device
    from cuda_gym.core.episode import Action, Episode, Observation
    from cuda_gym.core.findings import Findings, Outcome
    from cuda_gym.core.task import Submission, Task
    from cuda_gym.core.verdict import Verdict
    from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv
    from cuda_gym.envs.prompt import system_prompt
    from cuda_gym.envs.session import Session
    from cuda_gym.envs.tools import tool_schemas
    from cuda_gym.envs.vector_env import ThreadVectorEnv
    from cuda_gym.episode import play
    from cuda_gym.judge.judge import open_judge
    from cuda_gym.tasks.registry import list_suites, list_tasks, load_task

__all__ = [
    "ENVIRONMENTS",
    "Action",
    "Agent",
    "CudaKernelEnv",
    "Device",
    "Episode",
    "Findings",
    "Observation",
    "Outcome",
    "Session",
    "Submission",
    "Task",
    "ThreadVectorEnv",
    "Verdict",
    "list_suites",
    "list_tasks",
    "load_agent",
    "load_task",
    "open_judge",
    "play",
    "system_prompt",
    "tool_schemas",
]

ENVIRONMENTS = ("CudaKernel-v0", "cuda_gym/CudaKernel-v0")
"""The ids that importing this package registers; the second is the first in Gymnasium's long form."""

_HOMES = {
    "Action": "cuda_gym.core.episode",
    "Device": "cuda_gym.core.device",
    "Episode": "cuda_gym.core.episode",
    "Findings": "cuda_gym.core.findings",
    "Observation": "cuda_gym.core.episode",
    "Outcome": "cuda_gym.core.findings",
    "Submission": "cuda_gym.core.task",
    "Task": "cuda_gym.core.task",
    "Verdict": "cuda_gym.core.verdict",
    "Agent": "cuda_gym.agents.agent",
    "CudaKernelEnv": "cuda_gym.envs.cuda_kernel_env",
    "Session": "cuda_gym.envs.session",
    "ThreadVectorEnv": "cuda_gym.envs.vector_env",
    "list_suites": "cuda_gym.tasks.registry",
    "list_tasks": "cuda_gym.tasks.registry",
    "load_agent": "cuda_gym.agents.registry",
    "load_task": "cuda_gym.tasks.registry",
    "open_judge": "cuda_gym.judge.judge",
    "play": "cuda_gym.episode",
    "system_prompt": "cuda_gym.envs.prompt",
    "tool_schemas": "cuda_gym.envs.tools",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'cuda_gym' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


for _id in ENVIRONMENTS:
    if _id not in gymnasium.registry:
        gymnasium.register(
            id=_id,
            entry_point="cuda_gym.envs.cuda_kernel_env:CudaKernelEnv",
            vector_entry_point="cuda_gym.envs.vector_env:make_thread_vector_env",
            nondeterministic=True,
        )
