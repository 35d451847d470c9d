"""The simulated printer as a process of its own, which outlives agents."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from printreach.printers.simulated.runner import run_simulated_printer
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

FAST = 50
"""Simulated seconds a second, for what nobody wants to wait for."""


class SimulatedPrinter:
    """Ordered about at its own web page, as a person beside it would."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def put(self, name: str, gcode: str) -> None:
        """Save a file."""
        self._send("PUT", f"files/{name}", gcode.encode(), "text/x.gcode")

    def start(self, name: str) -> None:
        self._order("print", Action="start", Path=name)

    def pause(self) -> None:
        self._order("print", Action="pause")

    def resume(self) -> None:
        self._order("print", Action="resume")

    def cancel(self) -> None:
        self._order("print", Action="cancel")

    def clear(self) -> None:
        """Put the last print away."""
        self._order("print", Action="clear")

    def run_at(self, speed: float) -> None:
        """Simulated seconds a second."""
        self._order("simulate", Speed=speed)

    @property
    def bed_c(self) -> float:
        with urlopen(f"{self.url}/api/status", timeout=60) as answer:
            return float(json.load(answer)["Temps"]["BedActual"])

    def _order(self, name: str, **arguments: object) -> None:
        self._send("POST", name, json.dumps(arguments).encode(), "application/json")

    def _send(self, method: str, path: str, body: bytes, kind: str) -> None:
        headers = {"Content-Type": kind}
        request = Request(f"{self.url}/api/{path}", body, headers, method=method)
        with urlopen(request, timeout=60) as answer:
            answer.read()


@contextmanager
def simulated_printer(folder: Path, name: str) -> Iterator[SimulatedPrinter]:
    """Run one, in real time until told otherwise."""
    port = free_port()
    words = ["--port", str(port), "--folder", str(folder / f"files-of-{name}")]
    argv = [sys.executable, "-m", __name__, *words]
    root = Path(__file__).parents[2]
    with Program(f"simulated-{name}", argv, logs=folder, cwd=root) as program:
        program.wait_until("its port", lambda: accepts_connections(port))
        yield SimulatedPrinter(port)


async def _run(port: int, folder: Path) -> None:
    await run_simulated_printer("127.0.0.1", port, folder=folder)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    asyncio.run(_run(options.port, options.folder))
