"""What a node remembers of the tunnels of others, message by message."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from printreach.contract.node_words import Holds, Left, Moves, StandsBy, decode_presence, encode
from printreach.ports import Notice, Topic
from printreach.relay.commands import AgentClock
from printreach.relay.presence import ASK_TIMEOUT_S, LEASE_S, Presence
from printreach.relay.route import Route
from printreach.wire.session import Role
from tests.fakes.clock import FakeClock
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.memory_bus import MemoryBus
from tests.fakes.memory_link import MemoryLink
from tests.tunnel.ends import End

PRINTER = "printer"
Said = Holds | StandsBy | Left | Moves


def holds(node: str, epoch: int = 1, run: str = "run") -> Holds:
    return Holds(
        node=node,
        address=f"ws://{node}",
        printer_id=PRINTER,
        epoch=epoch,
        platform="moonraker",
        agent_unix_s=0.0,
        capabilities=[],
        agent_run=run,
    )


def stands_by(node: str, epoch: int = 1, run: str = "run") -> StandsBy:
    said = holds(node, epoch, run)
    return StandsBy(**{name: getattr(said, name) for name in said.__struct_fields__})


class Listening:
    """A node that holds nothing, and hears what others say."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.presence = Presence(
            self.bus, FakeClock(), "me", on_holder=lambda _: None, on_newer=lambda _: None
        )
        self.presence.address = "ws://me"

    async def hear(self, *said: Said) -> None:
        for message in said:
            await self.bus.publish(Notice(Topic.NODES, encode(message).decode()))

    @property
    def holder(self) -> str | None:
        """The node that gets requests."""
        holder = self.presence.holder(PRINTER)
        return None if holder is None else holder.node


@asynccontextmanager
async def listening() -> AsyncIterator[Listening]:
    node = Listening()
    try:
        yield node
    finally:
        await node.presence.close()


@on_a_hasty_loop
async def test_the_standby_gets_requests_once_the_primary_is_gone_however_that_is_heard() -> None:
    for left in (
        Left(node="a", printer_id=PRINTER),
        Moves(node="a", printer_id=PRINTER),
    ):
        async with listening() as node:
            await node.hear(holds("a"), stands_by("b"))
            assert node.holder == "a"
            await node.hear(left)
            assert node.holder == "b"
            assert node.presence.leased(PRINTER) is not None


@on_a_hasty_loop
async def test_whichever_is_heard_first_the_primary_gets_requests_and_the_standby_is_kept() -> None:
    async with listening() as node:
        await node.hear(stands_by("b"))
        assert node.holder == "b"
        await node.hear(holds("a"))
        assert node.holder == "a"
        node.presence.forget_node("a")
        assert node.holder == "b"


@on_a_hasty_loop
async def test_a_standby_that_became_the_primary_does_not_stand_by_for_itself() -> None:
    async with listening() as node:
        await node.hear(holds("a"), stands_by("b"), holds("b", epoch=2))
        assert node.holder == "b"
        node.presence.forget(PRINTER, "b")
        assert node.holder is None


@on_a_hasty_loop
async def test_a_standby_of_an_earlier_run_is_forgotten_with_its_primary() -> None:
    async with listening() as node:
        await node.hear(holds("a"), stands_by("b"), holds("c", epoch=2, run="anew"))
        await node.hear(Left(node="c", printer_id=PRINTER))
        assert node.holder is None


@on_a_hasty_loop
async def test_a_node_without_the_standby_any_more_is_not_asked() -> None:
    async with listening() as node:
        await node.hear(holds("a"), stands_by("b"), Left(node="b", printer_id=PRINTER))
        assert node.holder == "a"
        await node.hear(Left(node="a", printer_id=PRINTER))
        assert node.holder is None


@on_a_hasty_loop
async def test_who_is_asked_for_a_primary_that_does_not_answer_may_be_the_standby() -> None:
    async with listening() as node:
        await node.hear(holds("a"))
        await asyncio.sleep(LEASE_S + 1)
        asking = asyncio.create_task(node.presence.ask(PRINTER))
        await asyncio.sleep(0)
        await node.hear(stands_by("b"))
        async with asyncio.timeout(ASK_TIMEOUT_S / 2):
            found = await asking

        assert found is not None
        assert found.node == "b"
        await node.hear(holds("a"))
        assert node.holder == "a"


@on_a_hasty_loop
async def test_a_standby_beside_the_primary_of_another_run_is_told_of_that() -> None:
    route = Route(
        tunnel=End(Role.HUB, MemoryLink(asyncio.get_running_loop())).tunnel,
        clock=AgentClock(0.0, 0.0),
        platform="moonraker",
        capabilities=frozenset(),
        agent_run="run",
    )
    async with listening() as node:
        told: list[str] = []
        node.presence.hold(PRINTER, route)
        await asyncio.sleep(0)
        node.bus.subscribe(lambda notice: told.append(notice.key), Topic.NODES)
        await node.hear(stands_by("b", run="earlier"))
        await asyncio.sleep(0)

        assert node.holder is None
        assert isinstance(decode_presence(told[-1]), Holds)
        await node.hear(stands_by("b", run="run"))
        assert node.holder == "b"


@on_a_hasty_loop
async def test_nobody_waits_for_an_agent_that_moves_and_has_a_standby() -> None:
    async with listening() as node:
        await node.hear(holds("a"), Moves(node="a", printer_id=PRINTER), stands_by("b"))
        assert node.holder == "b"


OLD_HOLDS = (
    '{"Type":"Holds","Node":"a","Address":"ws://a","PrinterId":"printer","Epoch":1,'
    '"Platform":"moonraker","AgentUnixS":0.0,"Capabilities":[]}'
)
"""As nodes of the release before say it."""


@on_a_hasty_loop
async def test_a_tunnel_at_a_node_of_the_release_before_wins_over_older_ones() -> None:
    async with listening() as node:
        await node.hear(holds("c", epoch=0), stands_by("b", epoch=0))
        await node.bus.publish(Notice(Topic.NODES, OLD_HOLDS))
        assert node.holder == "a"
        await node.hear(Left(node="a", printer_id=PRINTER))
        assert node.holder is None


def test_nodes_of_the_release_before_ignore_what_they_do_not_know() -> None:
    """They decode by these types, and take what they can't decode for nothing."""
    old_holds = msgspec.defstruct(
        "Holds",
        [("node", str), ("epoch", int), ("capabilities", list[str])],
        rename="pascal",
        tag_field="Type",
        tag="Holds",
    )
    old_left = msgspec.defstruct(
        "Left", [("node", str)], rename="pascal", tag_field="Type", tag="Left"
    )
    decoder = msgspec.json.Decoder(old_holds | old_left)

    assert decoder.decode(encode(holds("a"))).node == "a"
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(encode(stands_by("b")))
