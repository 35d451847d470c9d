"""Webhook deliveries, compared with a bare loop of POSTs to the same receiver."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import aiohttp
import uvloop

from bench.measures import in_turn, percentile, ratios
from bench.report import Figure, Measurement, Reading
from bench.webhook_nodes import worker_nodes
from bench.webhooks import BODY, worker
from bench.world import COMPILED, World, builds
from tests.rigs.postgresql import DURABLE, PostgresqlServer
from tests.rigs.programs import Program
from tests.rigs.service import printreach

TITLE = "deliveries to webhooks"
BARE, OURS, BACKLOG = "aiohttp", "printreach", "100,000 due"
DELIVERIES = 3000
WEBHOOKS = 20
"""As many as a printer has App Connections; all lead to one receiver, as those of one app do."""
NODES_WEBHOOKS = 200
"""As of a popular app: where one worker isn't enough, the webhooks of many printers are due."""
ANSWERS_AFTER_MS = 50
"""For worker nodes, as a server on the internet does.

One that answers at once would leave out what further workers are for, more attempts under way. And
on a machine of two cores one worker and the database have 1.5 cores of work by then, so that two
workers could do no more than 1.3 times as much, whatever they do.
"""
FEW, MANY = 1000, 100_000
AT_ONCE = 32
EVENTS_A_SECOND = 100


def run(world: World) -> Measurement:
    rounds = range(world.plan.rounds)
    with _receiver(world.folder) as url:
        bare = [uvloop.run(_bare(url)) for _ in rounds]
        ours = [uvloop.run(_rate(url, "")) for _ in rounds]
        with PostgresqlServer(*DURABLE, parent=Path(tempfile.gettempdir())) as server:
            on_server = [_rate_on(server, url) for _ in rounds]
            with _receiver(world.folder, ANSWERS_AFTER_MS) as far:
                of_nodes = _of_nodes(server, far, world.plan.rounds)
        few = [uvloop.run(_cost_us(url, due=FEW)) for _ in rounds]
        many = [uvloop.run(_cost_us(url, due=MANY)) for _ in rounds]
        late = [uvloop.run(_latencies(url, world.plan.seconds)) for _ in rounds]
    p99 = [percentile(one, 99) for one in late]
    return Measurement(
        [
            Reading.of(BARE, "POSTs", "/s", bare),
            Reading.of(OURS, "deliveries", "/s", ours),
            Reading.of(OURS, "share of the bare loop", "x", ratios(ours, bare)),
            Reading.of(OURS, "deliveries on PostgreSQL", "/s", on_server),
            *(
                Reading.of(OURS, f"deliveries, worker nodes: {nodes}", "/s", rates)
                for nodes, rates in of_nodes.items()
            ),
            Reading.of(OURS, "CPU a delivery", "µs", few),
            Reading.of(BACKLOG, "CPU a delivery", "µs", many),
            Reading.of(OURS, "p50 of an event", "ms", [percentile(one, 50) for one in late]),
            Reading.of(OURS, "p99 of an event", "ms", p99),
        ],
        [
            Figure.of("webhooks.rate", ours),
            Figure.of("webhooks.server_share", ratios(on_server, ours)),
            Figure.of("webhooks.workers", ratios(of_nodes[2], of_nodes[1])),
            Figure.of("webhooks.backlog", ratios(many, few)),
            Figure.of("webhooks.p99", p99),
        ],
    )


@contextmanager
def _receiver(logs: Path, answers_after_ms: int = 0) -> Iterator[str]:
    argv = [sys.executable, "-m", "bench.receiver", str(answers_after_ms)]
    with Program(f"receiver-{answers_after_ms}", argv, logs=logs) as program:
        port = program.wait_until("the receiver's port", lambda: program.stdout().strip() or None)
        yield f"http://127.0.0.1:{int(port)}/hook"


async def _bare(url: str) -> float:
    """Return POSTs per second, with nothing stored and nothing signed."""
    loop, left = asyncio.get_running_loop(), DELIVERIES

    async def post(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            async with session.post(url, data=BODY) as answer:
                await answer.read()

    connector = aiohttp.TCPConnector(limit=AT_ONCE)
    async with aiohttp.ClientSession(connector=connector) as session:
        began = loop.time()
        await asyncio.gather(*(post(session) for _ in range(AT_ONCE)))
        return DELIVERIES / (loop.time() - began)


def _rate_on(server: PostgresqlServer, url: str) -> float:
    with server.database() as database_url:
        return uvloop.run(_rate(url, database_url))


def _of_nodes(server: PostgresqlServer, url: str, rounds: int) -> dict[int, list[float]]:
    """Return deliveries per second in each round, by one worker node and by two."""
    with server.database() as one, server.database() as two:
        return uvloop.run(_rates_of_nodes({1: one, 2: two}, url, rounds))


async def _rates_of_nodes(
    databases: Mapping[int, str], url: str, rounds: int
) -> dict[int, list[float]]:
    rates: dict[int, list[float]] = {nodes: [] for nodes in databases}
    command = builds().get(COMPILED, printreach)
    async with AsyncExitStack() as ends:
        deliver = {
            nodes: await ends.enter_async_context(
                worker_nodes(
                    databases[nodes], url, nodes=nodes, webhooks=NODES_WEBHOOKS, command=command
                )
            )
            for nodes in rates
        }
        for nodes in in_turn(list(rates), rounds):
            rates[nodes].append(await deliver[nodes](DELIVERIES))
    return rates


async def _rate(url: str, database_url: str) -> float:
    """Return deliveries per second."""
    with tempfile.TemporaryDirectory() as folder:
        async with worker(Path(folder) / "data", url, WEBHOOKS, database_url) as here:
            await here.queue(DELIVERIES)
            return DELIVERIES / await here.deliver(DELIVERIES)


async def _cost_us(url: str, *, due: int) -> float:
    """Return the worker's CPU time per delivery while `due` deliveries are due."""
    with tempfile.TemporaryDirectory() as folder:
        async with worker(Path(folder) / "data", url, WEBHOOKS) as here:
            await here.queue(due)
            before = time.process_time()
            await here.deliver(FEW)
            return 1e6 * (time.process_time() - before) / here.sender.count


async def _latencies(url: str, seconds: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        async with worker(Path(folder) / "data", url, 1) as here:
            return await here.latencies_ms(EVENTS_A_SECOND, seconds)
