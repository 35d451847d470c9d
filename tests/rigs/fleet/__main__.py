"""Run the fleet: python -m tests.rigs.fleet SERVICE_URL DATA_DIR COUNT.

Prints one JSON line for each change of an agent's phase.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

import uvloop

from printreach.agent.addresses import WebAddress, parse_listen_address, parse_web_address
from printreach.agent.config import AgentConfig
from printreach.agent.keys import ServicePins
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.runtime import AgentContext, LanPlace
from printreach.agent.state import AgentState, Observer, Phase, Snapshot
from printreach.agent.status import Announcer
from printreach.agent.uplink import Uplink
from printreach.contract.platforms import PlatformFacts
from printreach.http1.server import serve
from printreach.run.agent import this_machine
from tests.rigs.fleet.keys import key_of
from tests.rigs.fleet.printers import printer


def tell(**facts: str | int | float) -> None:
    """Write one line for the test to read."""
    print(json.dumps(facts), flush=True)


def teller(number: int) -> Observer:
    """Tells every change of one agent's phase."""
    last = Phase.STARTING

    def observe(snapshot: Snapshot) -> None:
        nonlocal last
        if snapshot.phase is not last:
            last = snapshot.phase
            tell(agent=number, phase=last.value, at=time.monotonic())

    return observe


async def run_one(number: int, service: WebAddress, data_dir: Path) -> None:
    """One printer and its agent, for ever."""
    server = await serve(
        printer(number, lambda stray: tell(agent=number, stray=stray)), "127.0.0.1", 0
    )
    folder = data_dir / str(number)
    folder.mkdir(mode=0o700, parents=True)
    config = AgentConfig(
        service=service,
        data_dir=folder,
        kind=PlatformFacts(name="web-server", title="Web server"),  # nothing asks it by itself
        printer=WebAddress(scheme="http", host="127.0.0.1", port=server.port),
        lan_listen=parse_listen_address("127.0.0.1:0"),
    )
    machine, key = this_machine(), key_of(number)
    first = Snapshot(
        phase=Phase.STARTING,
        phase_since=0.0,
        printer_id=key.printer_id,
        service_url=str(service),
        agent_version="fleet",
    )
    state = AgentState(first, machine.monotonic)
    state.observe(teller(number))
    context = AgentContext(
        config=config,
        machine=machine,
        key=key,
        pins=ServicePins.load(folder),
        state=state,
        announce=Announcer(None),
        find_lan_address=lambda: LanPlace(ip=None),
        remote_lock=RemoteLock(),
    )
    await Uplink(context).run()


async def run(service: WebAddress, data_dir: Path, count: int) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(run_one(number, service, data_dir))


if __name__ == "__main__":
    uvloop.run(run(parse_web_address(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
