"""An agent with a simulated printer that prints while one person watches the camera."""

import asyncio
import json
import time

import uvloop

from bench.processes import Broken, CpuWatch, resident_bytes
from bench.report import Figure, Measurement, Reading
from bench.service import connect, linked_agent
from bench.viewers import watching
from bench.world import OURS, World
from printreach.printers.simulated.sample import NAME
from tests.rigs.calls import call
from tests.rigs.ways import Way

TITLE = "agent with the simulated printer, one viewer"
SETTLE_S = 2.0
HURRY, HURRY_WITHIN_S, FIRST_LAYER = 20, 30.0, 2


def run(world: World) -> Measurement:
    seconds = 2 * world.plan.seconds
    with linked_agent(world.service, "simulated", "--platform", "simulated") as printer:
        way, pid = connect(world.service, printer), printer.agent.program.pid
        begin_print(way)
        cpu, size = uvloop.run(_watch(way, pid, seconds))
        memory = resident_bytes(pid) / 1e6
    return Measurement(
        [Reading.of(OURS, "webcam", "MB/s", [size / seconds / 1e6])],
        [Figure.of("simulated.cpu", [cpu]), Figure.of("simulated.memory", [memory])],
    )


def begin_print(way: Way) -> None:
    """Start the sample on a simulated printer, and wait until it extrudes with the fan on.

    It heats up in no time; from then on it is as fast as a printer. Raises Broken where it won't.
    """
    _order(way, "print", {"Action": "start", "Path": NAME})
    _order(way, "simulate", {"Speed": HURRY})
    deadline = time.monotonic() + HURRY_WITHIN_S
    while (json.loads(call(way, "/api/status").body)["CurrentLayer"] or 0) < FIRST_LAYER:
        if time.monotonic() > deadline:
            raise Broken("the simulated printer does not get to print")
        time.sleep(0.05)
    _order(way, "simulate", {"Speed": 1})


def _order(way: Way, name: str, arguments: dict[str, object]) -> None:
    body = json.dumps(arguments).encode()
    headers = [("Content-Type", "application/json")]
    status = call(way, f"/api/{name}", method="POST", headers=headers, body=body).status
    if status != 200:
        raise Broken(f"the simulated printer would not {name}: {status}")


async def _watch(way: Way, pid: int, seconds: float) -> tuple[float, int]:
    """Return the agent's CPU in percent of a core, and the bytes that the viewer received."""
    async with watching(way, "/webcam/?action=stream") as viewer:
        await asyncio.sleep(SETTLE_S)
        size, watch = viewer.size, CpuWatch({"agent": pid})
        await asyncio.sleep(seconds)
        return watch.used_percent()["agent"], viewer.size - size
