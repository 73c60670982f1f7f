"""Trials of builds in processes of their own: what `trial_server.py` is asked, and what it answers."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.mutation.right_kernels import RightKernel
from filelock import FileLock

__all__ = ["Trials"]

_SERVER: Final = Path(__file__).with_name("trial_server.py")
_ORACLE_S: Final = 90.0
_CALIBRATION_S: Final = 900.0


class Trials:
    """One server, started anew where it is lost.

    Args:
        folder: Where calibrations are kept while this runs; several processes may share it.
        num_draws: How many draws the oracle makes at each shape.
        rule_s: How long a build may take to be judged by one rule; many mutants never end.
    """

    def __init__(self, folder: Path, *, num_draws: int, rule_s: float = 60.0) -> None:
        self._folder = folder
        self._num_draws = num_draws
        self._rule_s = rule_s
        self._server: subprocess.Popen[str] | None = None
        self._calibrations: dict[str, Path] = {}

    def usual_sizes(self, kernel: RightKernel, library: str) -> dict[str, dict[str, int]]:
        """The integers that the launchers of a right kernel are given at the task's own shape.

        Raises:
            RuntimeError: the right kernel is not right, or misses the deadline.
        """
        found = self._ask("sizes", kernel, library, kernel.files, self._rule_s)
        if found["state"] != "done":
            raise RuntimeError(f"{kernel.name} cannot be run: {found['why']}")
        sizes: dict[str, dict[str, int]] = found["sizes"]
        return sizes

    def calibrate(self, kernel: RightKernel, library: str) -> None:
        """Let the oracle see what a right kernel gives; a mutant of it can be tried then.

        Raises:
            RuntimeError: the right kernel is not right, or misses the deadline.
        """
        if kernel.name in self._calibrations:
            return
        name = hashlib.sha256(kernel.name.encode()).hexdigest()[:16]
        path = self._folder / f"{name}.json"
        with FileLock(path.with_suffix(".lock")):
            if not path.is_file():
                self._calibrate(kernel, library, path)
        self._calibrations[kernel.name] = path

    def by_rule(
        self, rule: str, kernel: RightKernel, files: dict[str, str], library: str
    ) -> dict[str, Any]:
        """Whether a build passes `kernelbench` or `cuda_agent`; a crash and a timeout are a no.

        Whether it ended at all stands beside it.
        """
        found = self._ask(rule, kernel, library, files, self._rule_s)
        return {"passes": bool(found.get("passes")), "ends": found["state"] != "timeout"}

    def by_oracle(self, kernel: RightKernel, files: dict[str, str], library: str) -> dict[str, Any]:
        """Whether a build is equivalent to its right kernel, and where not."""
        found = self._ask(
            *("oracle", kernel, library, files, _ORACLE_S + 30.0),
            calibration=str(self._calibrations[kernel.name]),
            budget_s=_ORACLE_S,
        )
        if found["state"] == "done":
            return {name: found[name] for name in ("equivalent", "draws", "where")}
        return {"equivalent": False, "draws": None, "where": f"{found['state']}: {found['why']}"}

    def close(self) -> None:
        """End the server."""
        server, self._server = self._server, None
        if server is not None:
            if server.stdin:
                server.stdin.close()
            server.kill()
            server.wait()
            if server.stdout:
                server.stdout.close()

    def _calibrate(self, kernel: RightKernel, library: str, path: Path) -> None:
        found = self._ask(
            "calibrate", kernel, library, kernel.files, _CALIBRATION_S, num_draws=self._num_draws
        )
        if found["state"] != "done":
            raise RuntimeError(f"{kernel.name} cannot be calibrated: {found['why']}")
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(found), "utf-8")
        unfinished.rename(path)

    def _ask(
        self,
        what: str,
        kernel: RightKernel,
        library: str,
        files: dict[str, str],
        deadline_s: float,
        **more: Any,
    ) -> dict[str, Any]:
        request = {
            "what": what,
            "task_id": kernel.task.id,
            "source": kernel.task.source,
            "operations": kernel.task.library,
            "library": library,
            "files": files,
            "deadline_s": deadline_s,
            **more,
        }
        server = self._started()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        line = server.stdout.readline()
        if not line:
            self.close()
            return {"state": "crash", "why": "the server of trials was lost"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[str]:
        if self._server is None or self._server.poll() is not None:
            self._server = subprocess.Popen(
                [sys.executable, str(_SERVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._server
