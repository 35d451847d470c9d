"""Idle agents: the memory and CPU time of the relay for each."""

import asyncio
import sys
import time
from datetime import UTC, datetime

from sqlalchemy import func, insert, select

from bench.idle_agents import keys_of
from bench.processes import CpuWatch, resident_bytes
from bench.report import Figure, Measurement, Reading
from bench.service import settings_of
from bench.world import OURS, World
from printreach.rules.connections.credentials import printer_id_of
from printreach.store.store import Records, open_store
from printreach.store.tables import printers
from tests.rigs.programs import Program
from tests.rigs.service import OWNER, Service

TITLE = "idle agents, pinged every 30 s"
EMPTY_S = 5
NOTED_S = 120
"""The longest that noting may take."""
SETTLE_S = 3
WINDOW_S = 30
"""As long as the pings are apart, so that every agent is pinged once."""


def run(world: World) -> Measurement:
    count = world.plan.agents
    with world.another_service("idle") as service:
        asyncio.run(_link(service, count))
        relay = service.program.pid
        before, empty = resident_bytes(relay), _cpu_percent(relay, EMPTY_S)
        argv = [sys.executable, "-m", "bench.idle_agents", str(service.port), str(count)]
        began = time.monotonic()
        with Program("idle-agents", argv, logs=world.folder) as agents:
            agents.wait_until("all signed in", lambda: "ready" in agents.stdout(), 300)
            sign_in_s = time.monotonic() - began
            asyncio.run(_all_noted(service, count))
            time.sleep(SETTLE_S)
            each = (resident_bytes(relay) - before) / 1024 / count
            busy = _cpu_percent(relay, WINDOW_S)
    return Measurement(
        [
            Reading.of(OURS, "agents", "", [count]),
            Reading.of(OURS, "all signed in after", "s", [sign_in_s]),
            Reading.of(OURS, "relay without agents", "% of a core", [empty]),
            Reading.of(OURS, "relay without agents", "MB", [before / 1e6]),
        ],
        [Figure.of("idle.memory", [each]), Figure.of("idle.cpu", [busy])],
    )


async def _all_noted(service: Service, count: int) -> None:
    """Wait until the relay has stored who is connected, which it does after sign-in."""

    async def noted(records: Records) -> int | None:
        connected = select(func.count()).where(printers.c.node_id.is_not(None))
        return await records.connection.scalar(connected)

    async with open_store(settings_of(service).database_path) as store, asyncio.timeout(NOTED_S):
        while await store.read(noted) != count:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(1)


def _cpu_percent(pid: int, seconds: float) -> float:
    watch = CpuWatch({"relay": pid})
    time.sleep(seconds)
    return watch.used_percent()["relay"]


async def _link(service: Service, count: int) -> None:
    """Link every agent's key as a printer of the owner, as entering its code would."""
    at = datetime.now(UTC)

    async def put(records: Records) -> None:
        owner = await records.accounts.with_email(OWNER)
        assert owner is not None
        rows = [
            {
                "printer_id": printer_id_of(key.public_key().public_bytes_raw()),
                "account_id": owner.account_id,
                "name": f"Idle {number}",
                "public_key": key.public_key().public_bytes_raw(),
                "linked_at": at,
            }
            for number, key in enumerate(keys_of(count))
        ]
        await records.connection.execute(insert(printers), rows)

    async with open_store(settings_of(service).database_path) as store:
        await store.write(put)
