"""`make isolation`: many steps, and what is known of them afterwards."""

import argparse
import os
import secrets
import sys
import time
import traceback

from tests.isolation.walk.episodes import Report, WalkFailed, Walks, planned, quick_folder, shrunk
from tests.isolation.walk.parallel import walk_in_processes

TOLD_EVERY = 10_000


def main() -> int:
    """0, or 1 where something leaked or broke: then with the shortest walk that shows it."""
    parser = argparse.ArgumentParser(prog="make isolation")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, help="of an earlier run, to repeat it")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    print(f"A walk of {options.steps} steps, SEED={seed}", flush=True)
    report, began_at = Report(), time.monotonic()
    for walked, failed in walk_in_processes(seed, options.steps, options.processes):
        before = report.steps
        report.add(walked)
        if failed is not None:
            _tell(report, began_at)
            _tell_failure(*failed)
            return 1
        if report.steps // TOLD_EVERY > before // TOLD_EVERY:
            print(f"{report.steps} steps, {report.checks} checks", flush=True)
    _tell(report, began_at)
    print(f"Nothing reached anybody whose it isn't. SEED={seed}")
    return 0


def _tell(report: Report, began_at: float) -> None:
    seconds = time.monotonic() - began_at
    rate = 1000 * seconds / max(1, report.steps)
    print(f"\n{report.steps} steps in {seconds:.0f} s, {rate:.1f} ms each; {report.checks} checks")
    for name, count in report.by_name.most_common():
        print(f"{count:8} {name.replace('_', ' ')}")


def _tell_failure(seed: int, steps: int) -> None:
    """Take the episode again in this process, and look for a shorter one that fails alike."""
    with quick_folder() as folder:
        walks = Walks(folder)
        try:
            walks.episode(seed, planned(seed, steps))
        except WalkFailed as failed:
            _tell_shortest(walks, failed)
        else:
            print(f"The episode of seed {seed} failed, but not when it was taken again.")
    print(f"Again: make isolation SEED={seed} ISOLATION_STEPS={steps}")


def _tell_shortest(walks: Walks, failed: WalkFailed) -> None:
    print(f"\n{failed}\nafter {len(failed.steps)} steps. Looking for a shorter walk...", flush=True)
    shortest = shrunk(walks, failed)
    traceback.print_exception(shortest.cause, limit=-3)
    print(f"\n{shortest}\nThe steps that lead there:")
    for step in shortest.steps:
        print(f"    Step({step.name!r}, {step.seed}),")


if __name__ == "__main__":
    sys.exit(main())
