"""An agent that simulates its printer too, which prints while one person watches the camera."""

import asyncio
import json

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
    """Let a simulated printer print its sample. Raises Broken where it won't."""
    order = json.dumps({"Action": "start", "Path": NAME}).encode()
    status = call(
        way, "/api/print", method="POST", headers=[("Content-Type", "application/json")], body=order
    ).status
    if status != 200:
        raise Broken(f"the simulated printer would not print: {status}")


async def _watch(way: Way, pid: int, seconds: float) -> tuple[float, int]:
    """The agent's CPU in percent of a core, and the bytes that the viewer got."""
    async with watching(way, "/webcam/?action=stream") as viewer:
        await asyncio.sleep(SETTLE_S)
        size, watch = viewer.size, CpuWatch({"agent": pid})
        await asyncio.sleep(seconds)
        return watch.used_percent()["agent"], viewer.size - size
