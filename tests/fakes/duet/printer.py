"""The whole fake: one machine, with either web server in front of it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call, Handler
from printreach.http1.server import Server
from tests.fakes.duet.board import NO_PASSWORD, Board
from tests.fakes.duet.dsf import Dsf
from tests.fakes.duet.machine import TICK_S, Machine
from tests.rigs.waiting import free_port


class FakeDuet:
    """Made by fake_duet(). port: of its web server."""

    def __init__(self, password: str, *, has_sbc: bool) -> None:
        self.machine = Machine()
        self.port = free_port()
        self.board = Board(self.machine, password)
        self.dsf = Dsf(self.machine, password)
        self.next_answers: deque[bytes] = deque()
        self._is_said = asyncio.Event()
        self._handler: Handler = self.dsf.answer if has_sbc else self.board.answer
        self._server: Server | None = None

    def say_next(self, *bodies: bytes) -> None:
        """Answer the next requests with these."""
        self.next_answers.extend(bodies)
        self._is_said.clear()

    async def has_said_all(self) -> None:
        """Who was told all of it has heard it by now: they ask one thing after the other."""
        await self._is_said.wait()

    async def come_back(self) -> None:
        self._server = Server(self._answer, ServerLimits())
        await self._server.listen("127.0.0.1", self.port, None)

    async def go_away(self) -> None:
        if self._server is not None:
            await self._server.close()
            self._server = None

    async def _answer(self, call: Call) -> Answer:
        if not self.next_answers:
            self._is_said.set()
            return await self._handler(call)
        body = self.next_answers.popleft()
        return Answer(headers=[(b"Content-Type", b"application/json")], body=body)

    async def live(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.machine.pass_time(TICK_S)


@asynccontextmanager
async def fake_duet(
    password: str = NO_PASSWORD, *, has_sbc: bool = False
) -> AsyncIterator[FakeDuet]:
    """Running."""
    fake = FakeDuet(password, has_sbc=has_sbc)
    await fake.come_back()
    living = asyncio.create_task(fake.live())
    try:
        yield fake
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)
        await fake.go_away()
