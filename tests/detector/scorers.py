"""The two scorers under test: threads of this process, and another process's node over HTTP."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from printreach.backends.scorer_http import HttpScorer, NodeAddress
from printreach.detector.engine import Engine, ScoreBatch
from printreach.detector.node import LIMITS, Node
from printreach.http1.server import Server, serve
from printreach.ports.scoring import Scorer

TOKEN = "a-token-that-nobody-guesses"


@dataclass(frozen=True)
class Rig:
    """A scorer. engine: the engine of one thread that does the work."""

    scorer: Scorer
    engine: Engine


Way: TypeAlias = Callable[[Callable[[], ScoreBatch]], AbstractAsyncContextManager[Rig]]


@dataclass(frozen=True)
class RunningNode:
    """A node of one thread."""

    engine: Engine
    server: Server

    @property
    def address(self) -> NodeAddress:
        return NodeAddress("127.0.0.1", self.server.port, is_tls=False)


@asynccontextmanager
async def in_threads(load: Callable[[], ScoreBatch]) -> AsyncIterator[Rig]:
    engine = Engine(load, threads=1, timeout_s=60)
    try:
        yield Rig(engine, engine)
    finally:
        await engine.close()


@asynccontextmanager
async def at_a_node(load: Callable[[], ScoreBatch]) -> AsyncIterator[Rig]:
    async with running_node(load) as node, asking(node.address) as scorer:
        yield Rig(scorer, node.engine)


@asynccontextmanager
async def running_node(
    load: Callable[[], ScoreBatch],
    *,
    token: str = TOKEN,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[RunningNode]:
    engine = Engine(load, threads=1, timeout_s=60)
    server = await serve(Node(engine, token).answer, "127.0.0.1", port, limits=LIMITS, tls=tls)
    try:
        yield RunningNode(engine, server)
    finally:
        await engine.close()
        await server.close()


@asynccontextmanager
async def asking(
    *addresses: NodeAddress, look_again_s: float = 0.01, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HttpScorer]:
    scorer = HttpScorer(addresses, TOKEN, tls=tls, look_again_s=look_again_s)
    try:
        yield scorer
    finally:
        await scorer.close()


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; the caller sets a deadline."""
    while not condition():  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.005)
