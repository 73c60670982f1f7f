"""What an agent is told before its first turn: one canonical text, made from `prompts/*.jinja`.

The first observation, the system prompt of a language model and the SKILL.md of a workspace are the
same sentences, so that what is learned from one holds for the others. No time, no path and nothing
random is in them: they are the same whenever the task and the hardware are the same.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.envs.rules import Rules
from cuda_gym.envs.signatures import call_form, first_sentence
from cuda_gym.envs.skills import skills
from cuda_gym.envs.tools import TOOL_NAMES, Tools
from cuda_gym.judge.profiling.gpus import list_gpus
from cuda_gym.judge.toolchains.registry import resolve_device
from cuda_gym.tasks.registry import load_task
from cuda_gym.tasks.sizes import sized_for

__all__ = ["PAYS", "system_prompt", "workspace_page"]

PAYS = {
    "speedup": "the verified speed-up over torch.compile, 0 without a right kernel",
    "log_speedup": "the doublings over torch.compile, at least 1 for any right kernel",
    "milestone": "2 for a right kernel, 3 for one faster than eager, 4 than torch.compile too, at the end",
}
"""What an episode returns, in words, by the name of its reward."""

_PAYS_AT_ONCE = frozenset({"speedup", "log_speedup"})


def system_prompt(
    task: Task | str,
    device: Device | str = "auto",
    *,
    reward: str = "speedup",
    max_turns: int = 20,
    native_tools: bool = False,
) -> str:
    r"""All that an agent must know: the task, what pays, the rules, how to act, the budget.

    Args:
        task: A task, or the id of one, which then has its sizes for the device.
        device: Where kernels run; `auto` is the best that can be driven here.
        reward: What pays: `speedup`, `log_speedup` or `milestone`.
        max_turns: Actions in an episode.
        native_tools: Whether the tools are given to the model in another way, as `tool_schemas()`
            to a server that takes them; then they are not described here.

    Raises:
        UnknownTask: there is no such task.
        ValueError: there is no such reward or device, or no turn at all.

    >>> print(system_prompt("core/softmax", "cpu").split("\n")[0])
    Task core/softmax: Softmax over rows
    """
    Rules(reward=reward, max_turns=max_turns)
    where = _device(device)
    return _render(
        "system",
        sized_for(load_task(task), where) if isinstance(task, str) else task,
        where,
        pays=PAYS[reward],
        pays_at_once=reward in _PAYS_AT_ONCE,
        turns="one turn" if max_turns == 1 else f"{max_turns} turns, one action each",
        native_tools=native_tools,
        tools=() if native_tools else _tools(),
    )


def workspace_page(task: Task, device: Device) -> str:
    """The rules, for whoever opens the folder."""
    return _render("workspace", task, device) + "\n"


def _render(name: str, task: Task, device: Device, **values: object) -> str:
    template = _environment().get_template(f"{name}.jinja")
    return template.render(
        task=task,
        device=device,
        hardware=_hardware(device),
        library=[f"cuda_extension.library.{call}" for call in sorted(task.library)],
        skills=[s.name for s in skills().skills.values() if device.kind in s.devices],
        **values,
    ).strip()


@cache
def _environment() -> Environment:
    """Where the templates are; a name that none of them is given is an error."""
    return Environment(
        loader=PackageLoader("cuda_gym.envs", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


@cache
def _tools() -> tuple[str, ...]:
    """The tools as one line each, in the order in which agents are told of them."""
    tools = [getattr(Tools, name) for name in TOOL_NAMES]
    return tuple(f"{call_form(tool)}: {first_sentence(tool)}" for tool in tools)


def _hardware(device: Device) -> str:
    """What a kernel is written for; nothing for `cpu`, and for a GPU that is not there."""
    here = list_gpus() if device.kind == "cuda" else ()
    told = [
        f" ({gpu.name}: {gpu.architecture}, {gpu.num_multiprocessors} multiprocessors)"
        for gpu in here
        if gpu.index == device.index
    ]
    return "".join(told)


def _device(device: Device | str) -> Device:
    if isinstance(device, Device):
        return device
    return resolve_device(device) if device == "auto" else Device.parse(device)
