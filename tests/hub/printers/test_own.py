"""A person's own printers: what is seen of them, and that nobody else's are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from printreach.contract.status import State
from printreach.hub.denied import Reason
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.own import OwnPrinters, SeenPrinter
from printreach.hub.printers.readings import NOT_SEEN
from printreach.ports import Notice, Topic
from printreach.rules.printers import RECONNECT, Printer, Restart
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import FakePrinterHttp, status_of
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World, denied


@dataclass
class Home:
    """Ada with a printer, and Bob, who has none."""

    world: World
    printers: FakePrinterHttp
    own: OwnPrinters
    ada: str
    bob: str

    async def come_online(self, node_id: str = "node") -> None:
        at = self.world.clock.now()
        await self.world.agents.node_alive(node_id, at)
        await self.world.agents.agent_connected(
            PRINTER_ID, node_id, at, lan_ip=None, agent_version=None, platform=None
        )

    async def disconnect(self, node_id: str = "node") -> None:
        await self.world.agents.agent_disconnected(PRINTER_ID, node_id, self.world.clock.now())

    async def restart_after(self, pause: timedelta) -> None:
        """Start the service again, without agents."""
        alive_before = await self.world.core.store.read(
            lambda records: records.printers.last_alive_at()
        )
        assert alive_before is not None
        self.world.clock.advance(pause)
        self.own = replace(self.own, restart=Restart(self.world.clock.now(), alive_before))

    async def see(self) -> SeenPrinter:
        seen = await self.own.one(self.ada, PRINTER_ID)
        assert isinstance(seen, SeenPrinter)
        return seen


@asynccontextmanager
async def home(open_world: OpenWorld) -> AsyncIterator[Home]:
    async with open_world() as world:
        ada = await world.set_up()
        bob = await world.add_account(BOB)
        printers = FakePrinterHttp({PRINTER_ID: status_of(State.PRINTING, "vase.gcode")})
        live = LiveStatus(printers, world.clock)
        own = OwnPrinters(core=world.core, live=live)
        yield Home(world, printers, own, ada.account_id, bob.account_id)
        await live.close()


@on_a_loop
async def test_an_online_printer_is_shown_as_it_is(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.come_online()

        seen = await here.see()
        assert seen.is_online
        assert seen.reading.status == status_of(State.PRINTING, "vase.gcode")
        assert [one.printer.printer_id for one in await here.own.all(here.ada)] == [PRINTER_ID]


@on_a_loop
async def test_an_offline_printer_is_not_asked(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        assert not (await here.see()).is_online
        assert here.printers.asks.total() == 0


@on_a_loop
@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_printer_that_a_restart_cut_off_is_expected_back(
    open_world: OpenWorld, is_killed: bool
) -> None:
    async with home(open_world) as here:
        await here.come_online()
        here.world.clock.advance(timedelta(seconds=3))
        if not is_killed:
            await here.disconnect()
        await here.restart_after(timedelta(minutes=5))

        assert (await here.see()).awaits_reconnection
        here.world.clock.advance(RECONNECT.pauses[-1])
        assert (await here.see()).awaits_reconnection, "until the longest pause is over"
        here.world.clock.advance(timedelta(seconds=6))
        assert not (await here.see()).awaits_reconnection


@on_a_loop
async def test_a_printer_that_was_away_before_a_restart_is_as_offline_as_before(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        await here.come_online()
        await here.disconnect()
        here.world.clock.advance(timedelta(seconds=3))
        await here.world.agents.node_alive("node", here.world.clock.now())
        await here.restart_after(timedelta(seconds=2))

        assert not (await here.see()).awaits_reconnection


@on_a_loop
async def test_a_printer_that_leaves_after_a_restart_is_offline(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.come_online()
        await here.disconnect()
        await here.restart_after(timedelta(seconds=2))
        here.world.clock.advance(timedelta(seconds=1))
        await here.come_online("another node")
        assert not (await here.see()).awaits_reconnection
        await here.disconnect("another node")

        assert not (await here.see()).awaits_reconnection


@on_a_loop
async def test_another_accounts_printer_is_as_if_there_were_none(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        unknown = "a" * 32

        assert await here.own.all(here.bob) == []
        for printer_id in (PRINTER_ID, unknown):
            refusals = [
                await here.own.one(here.bob, printer_id),
                await here.own.rename(here.bob, printer_id, "Mine"),
                await here.world.printers.remove(printer_id, account_id=here.bob),
            ]
            assert {denied(refused).reason for refused in refusals} == {Reason.NO_SUCH_PRINTER}
            assert len({denied(refused).sentence for refused in refusals}) == 1
        assert (await here.see()).printer.name == "Workshop"


@on_a_loop
async def test_a_new_owner_sees_nothing_of_what_it_did_before(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.come_online()
        await here.see()
        await here.world.printers.remove(PRINTER_ID, account_id=here.ada)
        here.world.clock.advance(timedelta(seconds=1))
        await here.world.link_printer(BOB)

        seen = await here.own.one(here.bob, PRINTER_ID, ask=False)
        assert isinstance(seen, SeenPrinter)
        assert seen.reading == NOT_SEEN


@on_a_loop
async def test_a_printer_gets_another_name(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        assert isinstance(await here.own.rename(here.ada, PRINTER_ID, "  Attic "), Printer)

        assert (await here.see()).printer.name == "Attic"
        assert Notice(Topic.PRINTER, PRINTER_ID) in await here.world.notices()


@on_a_loop
async def test_a_name_that_is_none_is_refused(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        for typed in ("", "   ", "x" * 61, "a\nb"):
            refused = denied(await here.own.rename(here.ada, PRINTER_ID, typed))
            assert refused.reason is Reason.INVALID


@on_a_loop
async def test_after_an_order_the_printer_is_asked_although_it_was_just_now(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        await here.come_online()
        await asyncio.gather(here.see(), here.see())
        here.printers.statuses[PRINTER_ID] = status_of(State.PAUSED)

        seen = await here.own.ask_now(AdmittedPrinter((await here.see()).printer))
        assert isinstance(seen, SeenPrinter)
        assert seen.reading.status == status_of(State.PAUSED)


@on_a_loop
async def test_a_name_that_another_of_the_owners_printers_has_is_refused(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        other = await here.world.link_printer(key=b"o" * 32)
        await here.own.rename(here.ada, other.printer_id, "Attic")

        refused = denied(await here.own.rename(here.ada, PRINTER_ID, "attic"))
        assert refused.reason is Reason.INVALID
        assert refused.sentence == "You have another printer called attic. Choose another name."
        assert (await here.see()).printer.name != "attic"


@on_a_loop
async def test_printers_that_had_the_same_name_before_may_keep_it(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        other = await here.world.link_printer(key=b"o" * 32)
        name = (await here.see()).printer.name
        await here.world.core.store.write(
            lambda records: records.printers.rename(other.printer_id, name)
        )

        assert isinstance(await here.own.rename(here.ada, PRINTER_ID, name), Printer)
