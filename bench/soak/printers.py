"""The active agents of the soak test, in one process, each beside a simulated printer that
prints.

    python -m bench.soak.printers '{"service": "http://localhost:8080", "folder": "/tmp/x", ...}'

Prints "ready" once all run, and then a JSON line every few seconds: prints begun, agents restarted.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from bench.soak.preparing import agent_folder
from printreach.agent.addresses import WebAddress, parse_web_address
from printreach.agent.config import AgentConfig
from printreach.agent.runtime import Machine, run_agent
from printreach.agent.uplink import Uplink
from printreach.contract.platforms import PLATFORM_FACTS
from printreach.contract.status import UNDER_WAY
from printreach.printers.simulated.runner import RunningPrinter, run_simulated_printer
from printreach.printers.simulated.sample import NAME
from printreach.run.agent import this_machine

SPEED: Final = 2.0
"""Simulated seconds a second: the sample is printed in a few minutes."""
RESTS_S: Final = (60.0, 240.0)
STARTS_AGAIN_S: Final = (20.0, 60.0)
STANDS_STILL_S: Final = (1.0, 10.0)
TELLS_EVERY_S: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class Printers:
    """service: its base URL. folder: where the data directories are. restarted: of the last."""

    service: str
    folder: str
    active: int
    restarted: int


async def run(printers: Printers) -> None:
    """Run until this process is ended."""
    counts: Counter[str] = Counter()
    service = parse_web_address(printers.service)
    async with asyncio.TaskGroup() as group:
        for number in range(printers.active):
            folder = agent_folder(Path(printers.folder), number)
            printer = await run_simulated_printer(
                "127.0.0.1", 0, folder=folder / "files", speed=SPEED, seed=number
            )
            config = _config(service, folder, printer.port)
            is_restarted = number >= printers.active - printers.restarted
            group.create_task(_keep_printing(printer, counts))
            group.create_task(_keep_restarting(config, counts) if is_restarted else _stay(config))
        print("ready", flush=True)
        while True:
            print(json.dumps(counts), flush=True)
            await asyncio.sleep(TELLS_EVERY_S)


def _config(service: WebAddress, folder: Path, port: int) -> AgentConfig:
    return AgentConfig(
        service=service,
        data_dir=folder,
        kind=PLATFORM_FACTS["simulated"],
        printer=WebAddress(scheme="http", host="127.0.0.1", port=port),
        lan_listen=None,
    )


async def _keep_printing(printer: RunningPrinter, counts: Counter[str]) -> None:
    """Print the sample again and again, with rests: some print while others don't."""
    await asyncio.sleep(random.uniform(0, RESTS_S[1]))
    while True:
        problem = await printer.control.start(NAME)
        counts["prints refused" if problem else "prints begun"] += 1
        while printer.printer.state in UNDER_WAY:  # noqa: ASYNC110 - a printer that nobody hurries
            await asyncio.sleep(1)
        await asyncio.sleep(random.uniform(*RESTS_S))
        await printer.control.execute("print", b'{"Action":"clear"}')


def _machine() -> Machine:
    """Return a machine that announces nothing, since standard output is for this process's
    counts.
    """
    return replace(this_machine(), stdout=None)


async def _stay(config: AgentConfig) -> None:
    await run_agent(config, machine=_machine(), make_uplink=Uplink, stop=asyncio.Event())


async def _keep_restarting(config: AgentConfig, counts: Counter[str]) -> None:
    """Restart now and then, either by a clean stop or by a lost connection."""
    while True:
        stop = asyncio.Event()
        running = asyncio.create_task(
            run_agent(config, machine=_machine(), make_uplink=Uplink, stop=stop)
        )
        await asyncio.sleep(random.uniform(*STARTS_AGAIN_S))
        if random.random() < 0.5:
            stop.set()
        else:
            running.cancel()
        await asyncio.wait({running})
        if not running.cancelled():
            running.result()
        counts["agents restarted"] += 1
        await asyncio.sleep(random.uniform(*STANDS_STILL_S))


if __name__ == "__main__":
    uvloop.run(run(msgspec.json.decode(sys.argv[1], type=Printers)))
