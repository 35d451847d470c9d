"""`make isolation`: many steps, and what is known of them afterwards."""

import argparse
import secrets
import sys
import time
import traceback

from tests.isolation.walk.episodes import Report, WalkFailed, Walks, shrunk


def main() -> int:
    """0, or 1 where something leaked or broke: then with the shortest walk that shows it."""
    parser = argparse.ArgumentParser(prog="make isolation")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, help="of an earlier run, to repeat it")
    options = parser.parse_args()
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    print(f"A walk of {options.steps} steps, SEED={seed}", flush=True)
    walks, began_at = Walks(), time.monotonic()
    try:
        walks.walk(seed, options.steps, say=lambda text: print(text, flush=True))
    except WalkFailed as failed:
        _tell(walks.report, began_at)
        _tell_failure(walks, failed)
        return 1
    finally:
        walks.close()
    _tell(walks.report, began_at)
    print(f"Nothing reached anybody whose it isn't. SEED={seed}")
    return 0


def _tell(report: Report, began_at: float) -> None:
    seconds = time.monotonic() - began_at
    rate = 1000 * seconds / max(1, report.steps)
    print(f"\n{report.steps} steps in {seconds:.0f} s, {rate:.1f} ms each; {report.checks} checks")
    for name, count in report.by_name.most_common():
        print(f"{count:8} {name.replace('_', ' ')}")


def _tell_failure(walks: Walks, failed: WalkFailed) -> None:
    print(f"\n{failed}\nafter {len(failed.steps)} steps. Looking for a shorter walk...", flush=True)
    shortest = shrunk(walks, failed)
    traceback.print_exception(shortest.cause, limit=-3)
    print(f"\n{shortest}\nThe steps that lead there:")
    for step in shortest.steps:
        print(f"    Step({step.name!r}, {step.seed}),")
    count = len(failed.steps)
    print(f"Again: make isolation SEED={failed.seed} ISOLATION_STEPS={count}")


if __name__ == "__main__":
    sys.exit(main())
