"""One of several processes that measure mutants, for `workers.py`: a line of JSON in, a line out.

Covered: whatever cannot be measured is said, and the next one is measured. It ends when nobody asks any
more, whether its parent has ended well or not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script

from benchmarks.mutation.edits import Mutant
from benchmarks.mutation.measurement import Measurement
from benchmarks.mutation.right_kernels import right_kernels

from cuda_gym.errors import CudaGymError


def main() -> None:
    """Answer requests until there are no more."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    # What is printed on the way must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    measurement = Measurement(options.folder, num_draws=options.draws, num_threads=options.threads)
    try:
        for line in sys.stdin:
            answers.write(json.dumps(_answer(measurement, json.loads(line))) + "\n")
            answers.flush()
    except BrokenPipeError:
        pass  # nobody waits for the answer any more
    finally:
        measurement.close()


def _answer(measurement: Measurement, request: dict[str, Any]) -> dict[str, Any]:
    kernel = next(k for k in right_kernels() if k.name == request["kernel"])
    try:
        if request["what"] == "mutants":
            return {"mutants": [m.as_plain() for m in measurement.all_mutants(kernel)]}
        record = measurement.measure(kernel, Mutant.of_plain(request["mutant"]))
        return {"record": asdict(record)}
    except (CudaGymError, RuntimeError, OSError) as error:
        return {"why_not": f"{type(error).__name__}: {error}"[:500]}


if __name__ == "__main__":
    main()
