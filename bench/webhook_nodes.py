"""Worker nodes of their own that deliver webhooks from one PostgreSQL database."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import asyncpg  # type: ignore[import-untyped]

from bench.webhooks import worker
from printreach.backends.clock import SystemClock
from printreach.ports import Notice, Topic
from printreach.run.dependencies import bus_of
from printreach.run.settings import settings_from
from tests.rigs.nats_server import NatsServer
from tests.rigs.programs import Program
from tests.rigs.waiting import free_port

LOOK_EVERY_S: Final = 0.02
FIRST_PASSES_S: Final = 2.0
DONE_WITHIN_S: Final = 120.0
_WAITING: Final = "SELECT EXISTS (SELECT FROM webhook_deliveries WHERE due_at IS NOT NULL)"


@asynccontextmanager
async def worker_nodes(
    database_url: str,
    url: str,
    *,
    nodes: int,
    webhooks: int,
    command: Callable[..., list[str]],
) -> AsyncIterator[Callable[[int], Awaitable[float]]]:
    """Run so many nodes on a PostgreSQL database of theirs, whose webhooks all lead to the URL.

    Yields what delivers so many and returns the deliveries per second.
    """
    async with AsyncExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        nats = ends.enter_context(NatsServer(folder))
        env = {
            "PRINTREACH_DATA_DIR": str(folder / "data"),
            "PRINTREACH_DATABASE_URL": database_url,
            "PRINTREACH_NATS_URL": nats.url,
            "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
            "PRINTREACH_DETECTOR_WATCH": "false",
        }
        here = await ends.enter_async_context(worker(folder / "data", url, webhooks, database_url))
        bus = await ends.enter_async_context(bus_of(settings_from(env), here.store, SystemClock()))
        running = [
            ends.enter_context(_node(f"worker-{number}", folder, env, command))
            for number in range(nodes)
        ]
        for node in running:
            node.wait_until("ready line", partial(_is_ready, node))
        await asyncio.sleep(FIRST_PASSES_S)
        connection = await asyncpg.connect(database_url)
        ends.push_async_callback(connection.close)
        batches = count()

        async def deliver(deliveries: int) -> float:
            await here.queue(deliveries, f"batch-{next(batches)}")
            loop = asyncio.get_running_loop()
            began = loop.time()
            await bus.publish(Notice(Topic.EVENT, "due"))
            async with asyncio.timeout(DONE_WITHIN_S):
                while True:
                    if not await connection.fetchval(_WAITING):
                        return deliveries / (loop.time() - began)
                    await asyncio.sleep(LOOK_EVERY_S)

        yield deliver


def _node(
    name: str, logs: Path, env: Mapping[str, str], command: Callable[..., list[str]]
) -> Program:
    listen = {"PRINTREACH_LISTEN": f"127.0.0.1:{free_port()}"}
    return Program(name, command("serve", "--role", "worker"), logs=logs, env={**env, **listen})


def _is_ready(node: Program) -> bool:
    return "ready {" in node.stdout_since_start()
