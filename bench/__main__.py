"""Run all rows of the benchmark, or some; see docs/benchmarks.md."""

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NoReturn

import pytest

from bench.plan import BadPlan, Plan
from bench.processes import Missing
from bench.report import RowReport, summary, write_json
from bench.rows import ROWS
from bench.world import World

RESULTS: Final = Path("build/bench.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0, 1 if a row failed or with --strict missed its floor, 2 for wrong usage."""
    options = _read_options(argv)
    try:
        plan = Plan.read(os.environ)
    except BadPlan as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _stop)
    _allow_many_files()
    print(f"Load before: {os.getloadavg()[0]:.1f}. What else runs makes every figure worse.")
    try:
        reports = _run_all(options.only, plan)
    except KeyboardInterrupt:
        return 130  # as shells report it
    print("", *summary(reports), sep="\n")
    write_json(RESULTS, plan, reports)
    print(f"\nEverything is in {RESULTS}.")
    return 1 if any(_is_bad(report, strict=options.strict) for report in reports) else 0


def _read_options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        metavar="ROW,ROW",
        type=_read_rows,
        default=list(ROWS),
        help=f"some of: {', '.join(ROWS)}",
    )
    parser.add_argument("--strict", action="store_true", help="fail where a floor is not reached")
    return parser.parse_args(argv)


def _read_rows(text: str) -> list[str]:
    wanted = text.split(",")
    unknown = sorted(set(wanted) - ROWS.keys())
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no row {', '.join(unknown)}")
    return [name for name in ROWS if name in wanted]


def _run_all(names: Sequence[str], plan: Plan) -> list[RowReport]:
    reports = []
    with tempfile.TemporaryDirectory(prefix="printreach-bench-") as folder, ExitStack() as ends:
        world = World(Path(folder), plan, ends)
        for name in names:
            report = _run(name, world)
            reports.append(report)
            print("", *report.lines(), sep="\n", flush=True)
    return reports


def _run(name: str, world: World) -> RowReport:
    row, began = ROWS[name], time.monotonic()
    measurement, skipped, failed = None, "", ""
    try:
        measurement = row.run(world)
    except (Missing, pytest.skip.Exception) as missing:  # rigs skip a test for what they lack
        skipped = str(missing)
    except Exception as error:  # noqa: BLE001 - the other rows are worth having all the same
        failed = ", ".join(dict.fromkeys(_descriptions(error)))
    return RowReport(
        name=name,
        title=row.title,
        seconds=time.monotonic() - began,
        measurement=measurement,
        skipped=skipped,
        failed=failed,
    )


def _descriptions(error: BaseException) -> Iterator[str]:
    """Yield what an error says; of a group of tasks, what each of its errors says."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _descriptions(one)
    else:
        yield f"{type(error).__name__}: {error}"


def _is_bad(report: RowReport, *, strict: bool) -> bool:
    if report.measurement is None:
        return bool(report.failed)
    return strict and not all(figure.is_ok for figure in report.measurement.figures)


def _allow_many_files() -> None:
    """Raise the limit of open files to the maximum allowed; children inherit it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _stop(_number: int, _frame: object) -> NoReturn:
    """End as Ctrl-C does, so that nothing is left running."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
