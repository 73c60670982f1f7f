"""Does routing pay? Mixtures, routed and not, over recorded answers of real models.

    python benchmarks/routing.py [--quick] [--seeds N] [--pools NAME ...] [--data FOLDER]

Pools that are not named keep the figures of the last run. `results/routing.md` has the tables and which
of their figures are recorded, assumed or simulated; `results/routing.json` has everything,
`results/routing.svg` the picture. The recorded answers lie outside of the repository; the vectors of their
questions are made once and kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import platformdirs

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for its parts

from benchmarks.routing_replay.bounds import bounds
from benchmarks.routing_replay.golden import billing, decision
from benchmarks.routing_replay.loading import POOLS, data_folder
from benchmarks.routing_replay.picture import draw
from benchmarks.routing_replay.replay import Extent, replay
from benchmarks.routing_replay.report import page
from benchmarks.routing_replay.simulation import Rules
from benchmarks.routing_replay.sweep import POOLS as SWEPT
from benchmarks.routing_replay.sweep import sweep

RESULTS = Path(__file__).parent / "results"
MEASURED = ("src/cuda_gym", "benchmarks/routing.py", "benchmarks/routing_replay")
"""What the figures come from."""
_ORDER = ("mmlu_pro_15", "zeroeval_28", "llmrouter", "zeroeval_7_cheap", "mmlu_pro_5_small")
"""The longest first, and two of the same questions apart, so that these are encoded once."""
QUICK = Extent(
    seeds=(0,), most_train=900, most_test=150, most_tune=80, most_curve=80, num_resamples=500
)
FULL = Extent(most_test=1_500)


def main() -> None:
    options = _options()
    if not options.data.is_dir():
        sys.stdout.write(f"There are no recorded answers in {options.data}; --data names them.\n")
        return
    extent = QUICK if options.quick else FULL
    if options.seeds:
        extent = replace(extent, seeds=tuple(range(options.seeds)))
    if options.most_test:
        extent = replace(extent, most_test=options.most_test)
    path = options.to / "routing.json"
    results: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    _replay(options, extent, results, path)
    results["billing"] = billing(options.data)
    results["decision"] = decision(options.data, options.kept)
    path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    write(results, options.to)
    for bound in bounds(results):
        if bound.holds is False:
            sys.stdout.write(
                f"DOES NOT HOLD: {bound.pool} {bound.variant} {bound.claim}: {bound.measured}\n"
            )


def _replay(
    options: argparse.Namespace, extent: Extent, results: dict[str, Any], path: Path
) -> None:
    """The pools that are asked for, in the place of what is known of them; kept in the file as they come."""
    measured = _measured()
    pools, sweeps = results.get("pools", {}), {one["pool"]: one for one in results.get("sweep", [])}
    path.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as workers:
        asked = {
            name: workers.submit(replay, name, options.data, options.kept, extent, Rules())
            for name in _ORDER
            if name in options.pools
        }
        swept = {
            name: workers.submit(sweep, name, options.data, options.kept, extent)
            for name in options.pools
            if name in SWEPT
        }
        for found, futures, part in ((pools, asked, "replay"), (sweeps, swept, "other rules")):
            for name, future in futures.items():
                found[name] = future.result() | {"measured": measured}
                results["pools"] = {one: pools[one] for one in POOLS if one in pools}
                results["sweep"] = [sweeps[one] for one in SWEPT if one in sweeps]
                path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
                sys.stdout.write(f"{name}, {part}: {found[name]['seconds']} s\n")
                sys.stdout.flush()


def write(results: dict[str, Any], to: Path) -> None:
    """The page and the picture."""
    (to / "routing.md").write_text(page(results), "utf-8")
    draw(results, to / "routing.svg")


def _measured() -> dict[str, Any]:
    """When, on what, and of which code: whether what is committed is what ran."""
    return {
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "commit": _git("rev-parse", "--short=12", "HEAD") or "unknown",
        "is_clean": _git("status", "--porcelain", "--", *MEASURED) == "",
    }


def _git(*arguments: str) -> str | None:
    """What git says of this repository; None where there is no git or no repository."""
    command = ("git", "-C", str(RESULTS.parents[1]), *arguments)
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, few questions")
    parser.add_argument("--seeds", type=int, help="how many")
    parser.add_argument("--most-test", type=int, help="questions tested under each seed")
    parser.add_argument("--pools", nargs="+", choices=POOLS, default=list(POOLS))
    parser.add_argument("--data", type=Path, default=data_folder(), help="the recorded answers")
    parser.add_argument("--to", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--workers", type=int, default=2, help="pools at a time")
    parser.add_argument(
        "--kept",
        type=Path,
        default=platformdirs.user_cache_path("cuda_gym") / "routing",
        help="folder of the questions' vectors",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
