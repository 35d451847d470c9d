"""`make bench-fleet`: what a fleet costs, with more and more agents; see docs/scale.md."""

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.fleet.phases import Run, measured
from bench.fleet.reckon import report, verdict

RESULTS: Final = Path("build/fleet.json")
LINKED_OF_ONLINE: Final = 5
"""Printers that are linked for each that is online."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--agents", default="1000,3000,10000", help="how many are online, each run")
    parser.add_argument("--linked", type=int, help="printers that are linked; by default 5 times")
    parser.add_argument("--workers", type=int, default=1, help="worker nodes")
    parser.add_argument("--brief", action="store_true", help="sign-ins, rest and death alone")
    parser.add_argument("--into", type=Path, default=RESULTS, help="the file of the results")
    options = parser.parse_args(argv)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    nodes = {"relay": 3, "web": 2, "worker": options.workers, "detector": 1}
    runs: list[Run] = []
    for online in map(int, options.agents.split(",")):
        linked = options.linked or LINKED_OF_ONLINE * online
        print(f"{online} agents, {linked} linked; load {os.getloadavg()[0]:.1f}", flush=True)
        with tempfile.TemporaryDirectory(prefix="printreach-fleet-") as folder:
            Path(folder).chmod(0o755)  # PostgreSQL's own user goes there
            runs.append(measured(Path(folder), online, linked, nodes, is_brief=options.brief))
        options.into.parent.mkdir(exist_ok=True)
        options.into.write_bytes(msgspec.json.format(msgspec.json.encode(runs)) + b"\n")
    if not options.brief:
        print("", *report(runs), sep="\n")
    print("", *map(verdict, runs), sep="\n")
    print(f"\nEverything is in {options.into}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
