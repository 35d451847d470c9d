"""The bytes of answers that callers don't read are bounded, for an account and for all together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from printreach.relay.unread_answers import SlowCaller, UnreadAnswers
from printreach.wire.errors import Reason
from tests.relay.caller import Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Access, Rig, relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, send_for_ever
from tests.relay.waiting import settle, until

SMALL_BUFFER = 4096
HELD_BYTES = 400_000
"""By a caller that reads nothing."""


class Watched(UnreadAnswers):
    """It knows who has ever left something unread."""

    noted: set[SlowCaller]

    def note(self, caller: SlowCaller, size: int) -> None:
        super().note(caller, size)
        if size:
            self.noted.add(caller)


class SlowCallers:
    """Callers that ask for more than they read. script: what they are answered."""

    def __init__(self, rig: Rig, stack: AsyncExitStack, unread: Watched) -> None:
        self.rig = rig
        self.script = send_for_ever
        self.unread = unread
        unread.noted = set()
        self._stack = stack
        self._agents: dict[str, tuple[Access, ScriptedAgent]] = {}

    async def begins(self, account: str = "ada") -> tuple[Caller, Asked]:
        """One more caller asks a printer of the account, and reads nothing."""
        if account not in self._agents:
            access = self.rig.connect(f"app-{account}", printer=account, account=account)
            agent = await self.rig.agent(account, script=self.script)
            self._agents[account] = access, agent
        access, agent = self._agents[account]
        before = len(self.unread.noted)
        caller = await self._stack.enter_async_context(
            calling(self.rig.port, receive_buffer=SMALL_BUFFER)
        )
        caller.send(request(access.host, access.bearer))
        asked = await agent.next(len(agent.asked) + 1)
        await until(lambda: len(self.unread.noted) > before)
        await settle(20)
        return caller, asked


@asynccontextmanager
async def slow_callers(unread: Watched) -> AsyncIterator[SlowCallers]:
    async with relay() as rig, AsyncExitStack() as stack:
        rig.node._front.unread = unread
        yield SlowCallers(rig, stack, unread)


@on_a_loop
async def test_of_one_account_who_has_read_nothing_for_the_longest_time_is_ended() -> None:
    async with slow_callers(Watched(max_bytes_of_account=2 * HELD_BYTES)) as callers:
        _, others = await callers.begins("eve")
        _, first = await callers.begins()
        later = [(await callers.begins())[1] for _ in range(2)]
        await until(lambda: first.reset is Reason.CANCELLED)

        assert [one.reset for one in (others, *later)] == [None] * 3
        assert callers.unread.size <= 3 * HELD_BYTES


@on_a_loop
async def test_of_all_accounts_who_reads_stays_and_who_reads_nothing_is_ended() -> None:
    async with slow_callers(Watched(max_bytes=3 * HELD_BYTES)) as callers:
        reader, read = await callers.begins("ada")
        _, first = await callers.begins("eve")
        reading = asyncio.create_task(reader.rest())
        _, last = await callers.begins("bob")
        _, more = await callers.begins("joe")
        await until(lambda: first.reset is Reason.CANCELLED)
        reading.cancel()

        assert [one.reset for one in (read, last, more)] == [None] * 3


@on_a_loop
async def test_what_callers_have_read_or_left_counts_no_longer() -> None:
    async with slow_callers(Watched()) as callers:
        callers.script = lambda asked: asked.answer_with_length(b"x" * 1_000_000)
        reader, _ = await callers.begins()
        leaving, _ = await callers.begins()
        assert HELD_BYTES < callers.unread.size <= 2 * HELD_BYTES
        leaving.leave()
        await until(lambda: callers.unread.size <= HELD_BYTES)
        await reader.answer()

        await until(lambda: callers.unread.size == 0)


@on_a_loop
async def test_a_whole_answer_that_is_not_read_counts() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=SMALL_BUFFER) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer_with_length(b"x" * 200_000))
        caller.send(request(access.host, access.bearer))

        await until(lambda: rig.node._front.unread.size > 0)


class Connection:
    """A caller of the service itself, or of the account's printers."""

    def __init__(self, account_id: str = "") -> None:
        self.account_id = account_id
        self.peer = "192.0.2.1"
        self.is_ended = False

    def abort_for_gone_caller(self) -> None:
        self.is_ended = True


@on_a_loop
async def test_callers_of_the_service_itself_are_nobodys_account() -> None:
    unread = UnreadAnswers(max_bytes=10, max_bytes_of_account=3)
    callers = [Connection() for _ in range(5)]
    for caller in callers:
        unread.note(caller, 2)
    unread.note(callers[0], 1)
    unread.note(Connection(), 2)
    await settle(1)

    assert [caller.is_ended for caller in callers] == [False, True, False, False, False]


@pytest.mark.parametrize("size", [0, 3])
@on_a_loop
async def test_a_caller_is_counted_once(size: int) -> None:
    unread, caller = UnreadAnswers(), Connection("ada")
    for now in (1, 5, 2, size):
        unread.note(caller, now)

    assert unread.size == size
    unread.forget(caller)
    unread.forget(caller)
    assert unread.size == 0
