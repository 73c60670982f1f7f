"""Several environments, each in a process of its own, on one GPU: are the Verdicts right, and does it time alone?

    python benchmarks/cuda_envs.py [--device cuda:0] [--envs 8] [--seconds 120] [--quick] [--to FOLDER]

Each environment hands in a right kernel, a wrong one and a slow one, each in a text that is new, then
submits and begins again. At the end the log of the device's lock shows whether an exclusive slot ever
overlapped anything. An environment that does not come back is a deadlock.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for what they share

import gymnasium as gym
from benchmarks.on_gpu.lock_log import Held, overlaps, read_log
from benchmarks.on_gpu.options import options, parsed
from benchmarks.on_gpu.problems import Problem, bias_gelu, fresh
from benchmarks.on_gpu.results import record, say

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.judge.judge import Judge

GRACE_S = 150.0
"""To start, and to finish the episode that is being played."""
EXPECTED = {"right": "correct", "wrong": "wrong", "slow": "correct", "submit": "correct"}
SUBMIT = '{"name": "submit"}'


def problem_on(device: Device) -> Problem:
    """Small where there is no GPU."""
    return bias_gelu(64, 1024) if device.kind == "cpu" else bias_gelu(8192, 2048)


def variants(problem: Problem) -> dict[str, Submission]:
    """A right submission, one with another sign, and one that writes everything sixteen times."""
    store = "out[row + i] = gelu(x[row + i] + bias[i]);"
    slow = (
        "for (int n = 0; n < 16; ++n) ((volatile float*)out)[row + i] = gelu(x[row + i] + bias[i]);"
    )
    right = problem.submission
    return {
        "right": right,
        "wrong": _changed(right, store, store.replace(" + bias", " - bias")),
        "slow": _changed(right, store, slow),
    }


def play(
    number: int, device: Device, seconds: float, log_folder: str, told: multiprocessing.Queue[Any]
) -> None:
    """One environment, until the time is over."""
    os.environ["CUDA_GYM_LOCK_LOG"] = str(Path(log_folder) / f"{number}.jsonl")
    problem = problem_on(device)
    submissions = variants(problem)
    env: gym.Env[Any, Any] = gym.make(
        "cuda_gym:CudaKernel-v0", task=problem.task, device=str(device), disable_env_checker=True
    )
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        env.reset()
        for name in EXPECTED:
            begun = time.monotonic()
            if name == "submit":
                action = SUBMIT
            else:
                files = dict(fresh(submissions[name]).files)
                action = format_action(files, ToolCall("profile"))
            *_, info = env.step(action)
            told.put(
                {
                    "env": number,
                    "name": name,
                    "outcome": info.get("outcome"),
                    "speedup": info.get("speedup"),
                    "why": _why(info),
                    "seconds": time.monotonic() - begun,
                }
            )
    env.close()
    told.put({"env": number, "name": "end"})


def run(device: Device, num_envs: int, seconds: float) -> dict[str, Any]:
    """All environments; what they were told, and what the lock's log shows."""
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[Any] = context.Queue()
    with tempfile.TemporaryDirectory() as log_folder:
        start = time.monotonic()
        players = [
            context.Process(target=play, args=(number, device, seconds, log_folder, told))
            for number in range(num_envs)
        ]
        for player in players:
            player.start()
        steps = _listen(told, num_envs, deadline=start + seconds + GRACE_S, start=start)
        stuck = _end(players)
        log = read_log(Path(log_folder))
    wall_s = time.monotonic() - start
    wrong = [step for step in steps if step["outcome"] != EXPECTED[step["name"]]]
    judged = [step for step in steps if step["name"] != "submit"]
    return {
        "num_envs": num_envs,
        "seconds": seconds,
        "num_steps": len(steps),
        "verdicts_a_minute": 60.0 * len(judged) / wall_s,
        "median_step_s": statistics.median(step["seconds"] for step in steps) if steps else None,
        "speedups": {name: _median_speedup(steps, name) for name in ("right", "slow")},
        "not_as_expected": wrong,
        "stuck": stuck,
        "lock": _about_lock(log, wall_s),
    }


def _why(info: dict[str, Any]) -> str:
    """What the judge said, in a sentence."""
    findings = (info.get("verdict") or {}).get("findings") or {}
    return str(info.get("void") or findings.get("summary", ""))[:400]


def _listen(told: Any, num_envs: int, *, deadline: float, start: float) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    ended = 0
    while ended < num_envs and time.monotonic() < deadline:
        try:
            step = told.get(timeout=5.0)
        except queue.Empty:
            continue
        if step["name"] == "end":
            ended += 1
            continue
        steps.append(step)
        say(
            f"  {time.monotonic() - start:6.1f} s: env {step['env']}, {step['name']}: "
            f"{step['outcome']}, {step['speedup'] or 0:.3f}x, {step['seconds']:.2f} s"
            f"{'' if step['outcome'] == EXPECTED[step['name']] else ' UNEXPECTED: ' + step['why']}"
        )
    return steps


def _end(players: Sequence[Any]) -> list[int]:
    """The numbers of those that had to be ended."""
    stuck = []
    for number, player in enumerate(players):
        player.join(15.0)
        if player.is_alive():
            stuck.append(number)
            player.terminate()
            player.join(5.0)
        elif player.exitcode:
            stuck.append(number)
    return stuck


def _about_lock(log: Sequence[Held], wall_s: float) -> dict[str, Any]:
    exclusive = [held for held in log if held.mode == "exclusive"]
    found = overlaps(log)
    return {
        "num_intervals": len(log),
        "num_exclusive": len(exclusive),
        "exclusive_share": sum(held.seconds for held in exclusive) / wall_s,
        "longest_exclusive_s": max((held.seconds for held in exclusive), default=None),
        "num_overlaps": len(found),
        "overlaps": [f"{one} and {other}" for one, other in found[:5]],
    }


def _median_speedup(steps: Sequence[dict[str, Any]], name: str) -> float | None:
    found = [s["speedup"] for s in steps if s["name"] == name and s["speedup"] is not None]
    return statistics.median(found) if found else None


def _changed(submission: Submission, old: str, new: str) -> Submission:
    files = dict(submission.files)
    if old not in files["kernels/kernel.cu"]:
        raise ValueError(f"the kernel has no {old!r}")
    files["kernels/kernel.cu"] = files["kernels/kernel.cu"].replace(old, new)
    return Submission.of(files)


def main() -> None:
    parser = options(__doc__, quick="three environments for 30 seconds")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parsed(parser)
    if arguments is None:
        return
    num_envs, seconds = (3, 30.0) if arguments.quick else (arguments.envs, arguments.seconds)
    found = run(arguments.device, num_envs, seconds)
    lock = found["lock"]
    holds = {
        "no deadlock": not found["stuck"] and found["num_steps"] > 0,
        "no wrong Verdict": not found["not_as_expected"],
        "timed alone": lock["num_exclusive"] > 0 and not lock["num_overlaps"],
    }
    say(
        f"{found['num_steps']} steps, {found['verdicts_a_minute']:.0f} Verdicts a minute; lock: {lock}"
    )
    for name, does in holds.items():
        say(f"{name}: {'holds' if does else 'DOES NOT HOLD'}")
    problem = problem_on(arguments.device)
    judge = Judge(arguments.device)
    try:
        verdict = judge.judge(problem.task, problem.submission)
    finally:
        judge.close()
    if verdict.fingerprint is not None:
        record(verdict.fingerprint, "envs", {"holds": holds, **found}, arguments.to)


if __name__ == "__main__":
    main()
