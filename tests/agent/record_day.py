"""Record a day of the simulated printer: `python -m tests.agent.record_day`.

Four prints: one that runs through, one that is paused and cancelled, one that asks for another
filament, one that breaks down. A line is a second of the day and what has changed by then of what
GET /api/status tells; between two lines five seconds pass at most while it prints.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.program import Job
from printreach.printers.simulated.site import report_status

FILE = Path(__file__).parent / "recordings" / "simulated-day.jsonl.gz"
DAY_S = 24 * 3600
EVERY_S = 5

_UNTOLD = ("Console", "Position", "Speed", "Failure", "FanPercent")
_BEGIN = "M140 S60\nM104 S210\nG28\nG90\nM83\nM190 S60\nM109 S210\n"
_END = "M104 S0\nM140 S0\n"


def record() -> Iterator[tuple[int, dict[str, Any]]]:
    """Seconds of the day, and all that is told then."""
    printer = SimulatedPrinter(7)
    plan = _plan(printer)
    state = None
    for second in range(DAY_S):
        if second in plan:
            plan[second]()
        reported = report_status(printer, 1.0)
        if second % EVERY_S == 0 or reported["State"] != state:
            state = reported["State"]
            yield second, {name: value for name, value in reported.items() if name not in _UNTOLD}
        printer.advance(1.0)


def replay() -> Iterator[tuple[int, dict[str, Any]]]:
    """The recorded events, as they were reported."""
    reported: dict[str, Any] = {}
    with gzip.open(FILE, "rt") as lines:
        for line in lines:
            second, changed = json.loads(line)
            reported = {**reported, **changed}
            yield second, reported


def _plan(printer: SimulatedPrinter) -> dict[int, Callable[[], object]]:
    """The actions of people, by the second of the day."""

    def start(name: str, gcode: str) -> Callable[[], object]:
        data = gcode.encode()
        job = Job(name=name, size_bytes=len(data), lines=data.splitlines(keepends=True))
        return lambda: printer.start(job)

    hour = 3600
    return {
        8 * hour: start("vase.gcode", _BEGIN + _layers(90) + _END),
        int(11.5 * hour): start("bracket.gcode", _BEGIN + _layers(200) + _END),
        int(12.2 * hour): printer.pause,
        int(12.5 * hour): printer.resume,
        int(13.5 * hour): printer.cancel,
        15 * hour: start("sign.gcode", _BEGIN + _layers(20) + "M600\n" + _layers(20, 20) + _END),
        int(15.9 * hour): printer.resume,
        20 * hour: start("gear.gcode", _BEGIN + _layers(200) + _END),
        21 * hour: lambda: printer.break_down("The hotend's heater has failed."),
        22 * hour: printer.clear,
    }


def _layers(count: int, first: int = 0) -> str:
    """Each takes a minute and a half."""
    lines = []
    for layer in range(first, first + count):
        lines.append(f";LAYER:{layer}\nG1 Z{(layer + 1) * 0.2:.1f} F600\n")
        lines.append("G1 X20 E1 F3000\nG1 X80 E2\n" * 5 + "G4 S80\n")
    return "".join(lines)


def main() -> None:
    reported: dict[str, Any] = {}
    with gzip.GzipFile(FILE, "wb", mtime=0) as file:
        for second, now in record():
            changed = {name: value for name, value in now.items() if reported.get(name) != value}
            if changed:
                line = json.dumps([second, changed], separators=(",", ":"))
                file.write(line.encode() + b"\n")
            reported = now


if __name__ == "__main__":
    main()
