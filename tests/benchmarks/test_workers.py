"""Workers that answer, die or never say a word, with small programs in place of the real one."""

from __future__ import annotations

import itertools
import sys

from benchmarks.mutation.workers import Answer, Request, ask_all

ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["kernel"] == "deadly":
        sys.exit(1)
    print(json.dumps({"record": asked["mutant"]}), flush=True)
"""


def asked(*kernels: str) -> list[Answer]:
    requests = [
        Request(what="measure", kernel=kernel, mutant={"id": number})
        for number, kernel in enumerate(kernels)
    ]
    command = [sys.executable, "-c", ECHO]
    return list(ask_all(requests, num_workers=2, command=command))


def test_every_request_is_answered_once_whatever_a_worker_dies_of() -> None:
    answers = asked("a", "a", "deadly", "b", "a", "b")
    assert sorted(a.request.mutant["id"] for a in answers if a.request.mutant) == list(range(6))
    dead = [a for a in answers if "why_not" in a.found]
    assert [a.request.kernel for a in dead] == ["deadly"]
    assert all(a.found["record"] == a.request.mutant for a in answers if a not in dead)


def test_nothing_is_begun_when_time_is_over() -> None:
    over = itertools.chain([False, False], itertools.repeat(True))
    requests = [Request(what="measure", kernel="a", mutant={"id": n}) for n in range(8)]
    command = [sys.executable, "-c", ECHO]
    found = ask_all(requests, num_workers=1, command=command, is_over=lambda: next(over))
    assert len(list(found)) == 2
