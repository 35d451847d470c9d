"""An agent beside a printing printer that nobody watches.

The printer is a process of its own, whose work isn't counted: an agent that simulates it too has
a row of its own.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.processes import CpuWatch, resident_bytes
from bench.report import Figure, Measurement, Reading
from bench.rows.simulated import SETTLE_S, begin_print
from bench.service import connect, linked_agent
from bench.world import OURS, World
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

TITLE = "agent beside a printing printer, no viewer"


def run(world: World) -> Measurement:
    with _printer(world) as (port, printer_pid):
        options = ("--platform", "simulated", "--printer-url", f"http://127.0.0.1:{port}")
        with linked_agent(world.service, "printing", *options) as linked:
            begin_print(connect(world.service, linked))
            time.sleep(SETTLE_S)
            agent_pid = linked.agent.program.pid
            watch = CpuWatch({"agent": agent_pid, "printer": printer_pid})
            time.sleep(2 * world.plan.seconds)
            cpu, memory = watch.used_percent(), resident_bytes(agent_pid) / 1e6
    return Measurement(
        [Reading.of(OURS, "the printer itself", "% of a core", [cpu["printer"]])],
        [Figure.of("printing.cpu", [cpu["agent"]]), Figure.of("printing.memory", [memory])],
    )


@contextmanager
def _printer(world: World) -> Iterator[tuple[int, int]]:
    """Start it; return its port and its process."""
    port, folder = free_port(), world.folder / "printing"
    argv = [sys.executable, "-m", "bench.simulated_printer", str(port), str(folder)]
    with Program("printer", argv, logs=world.folder) as program:
        program.wait_until("listening", lambda: accepts_connections(port))
        yield port, program.pid
