"""A clock that was hours ahead, as of a machine that has just started, is put right.

What is remembered for a moment is then remembered for a moment, not until the clock comes there.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.contract.commands import CommandStatus
from printreach.contract.events import EventType
from printreach.contract.status import Temps
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.connections.live_links import LiveLinks
from printreach.hub.once import ShownOnce
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.own import OwnPrinters
from printreach.hub.printers.pictures import SharedPictures
from printreach.hub.printers.readings import Temperatures
from printreach.hub.prints.snapshots import Snapshots
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.accounts.limits import LimitChanges
from printreach.rules.accounts.sessions import Session, is_fresh, is_note_due
from printreach.rules.connections.live_links import LastFacts, LiveEnd
from printreach.rules.printers import OwnedPrinter
from printreach.rules.rate_limits import TooSoon
from printreach.store.prints.events import StoredEvent
from printreach.store.sealing import KeySealer
from printreach.store.store import Records
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import FakePrinterHttp, status_of
from tests.hub.world import PRINTER_ID, OpenWorld, World
from tests.rules.connections.test_live_links import LINK, event
from tests.rules.detection.test_jpeg import picture

AHEAD = timedelta(hours=2)
ONE, TWO = OwnedPrinter("one", "ada"), OwnedPrinter("two", "ada")
NO_CAMERA = PrinterRefusal(int(CommandStatus.NOT_FOUND), "There is no camera.")


@dataclass(frozen=True)
class House:
    world: World
    printers: FakePrinterHttp
    live: LiveStatus
    live_links: LiveLinks
    snapshots: Snapshots
    account_id: str


async def house(world: World) -> House:
    """Ada's printer, and all that she sees of it."""
    printer = await world.set_up()
    printers = FakePrinterHttp({PRINTER_ID: status_of()})
    snapshots = Snapshots(
        core=world.core, kept=DiskSnapshots(world.data_dir / "snapshots"), http=printers
    )
    live = LiveStatus(printers, world.clock)
    own_printers = OwnPrinters(core=world.core, live=live)
    live_links = LiveLinks(core=world.core, live=live, printers=own_printers)
    return House(world, printers, live, live_links, snapshots, printer.account_id)


@on_a_loop
async def test_a_live_link_that_has_ended_shows_nothing_more(open_world: OpenWorld) -> None:
    async with open_world() as world:
        here = await house(world)
        link = replace(LINK, account_id=here.account_id, printer_id=PRINTER_ID, print_id="")

        async def end(records: Records) -> None:  # as another process does
            await records.live_links.end("l1", world.clock.now(), LiveEnd.OWNER, LastFacts())

        await world.store.write(lambda records: records.live_links.add(link))
        world.clock.advance(AHEAD)
        shown = await here.live_links.look("l1")
        assert shown is not None
        assert shown.end is None
        world.clock.advance(-AHEAD)
        await world.store.write(end)
        shown = await here.live_links.look("l1")

        assert shown is not None
        assert shown.end is LiveEnd.OWNER


@on_a_loop
async def test_a_page_that_opens_shows_what_printers_do_now(open_world: OpenWorld) -> None:
    async with open_world() as world:
        here = await house(world)
        printer = OwnedPrinter(PRINTER_ID, here.account_id)
        world.clock.advance(AHEAD)
        await here.live.fresh([printer], 60)
        world.clock.advance(-AHEAD)
        await here.live.fresh([printer], 60)

        assert here.printers.asks[PRINTER_ID] == 2
        assert here.live.latest(printer).seen_at == world.clock.now()


@on_a_loop
async def test_a_crowd_is_shown_a_picture_of_now_and_a_camera_that_is_back() -> None:
    clock, printers = FakeClock(), FakePrinterHttp()
    pictures = SharedPictures(printers, clock)
    clock.advance(AHEAD)
    assert await pictures.newest(TWO) is None
    printers.raw["/webcam/snapshot"] = "image/jpeg", picture()
    assert await pictures.newest(ONE) is not None
    clock.advance(-AHEAD)

    newest = await pictures.newest(ONE)
    assert newest is not None
    assert newest.taken_at == clock.now()
    assert await pictures.newest(TWO) is not None


@on_a_loop
async def test_events_have_pictures_of_a_camera_that_was_plugged_in(open_world: OpenWorld) -> None:
    async with open_world() as world:
        here = await house(world)
        happened = StoredEvent(
            seq=1,
            account_id=here.account_id,
            printer_id=PRINTER_ID,
            event=event(EventType.COMPLETE),
            received_at=NOON,
        )
        world.clock.advance(AHEAD)
        here.printers.answers["/webcam/snapshot"] = NO_CAMERA
        assert await here.snapshots.take(happened) is None
        world.clock.advance(-AHEAD)
        here.printers.raw["/webcam/snapshot"] = "image/jpeg", picture()

        assert await here.snapshots.take(happened) is not None


def test_how_warm_a_printer_was_is_drawn_from_now_on() -> None:
    kept = Temperatures()
    kept.note(ONE, NOON + AHEAD, Temps(hotend_actual=200))
    kept.note(ONE, NOON, Temps(hotend_actual=201))

    assert [one.temps.hotend_actual for one in kept.readings_since(ONE, NOON - AHEAD)] == [201]


@on_a_loop
async def test_what_an_operator_has_decided_counts_soon(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()
        limits = RequestLimits(core=world.core)
        world.clock.advance(AHEAD)
        assert await limits.take(account.account_id, "session") is None
        world.clock.advance(-AHEAD)
        one_only = LimitChanges(requests_a_minute=1)
        await world.store.write(lambda records: records.limits.put_of_service(one_only))

        results = [await limits.take(account.account_id, "session") for _ in range(2)]
        assert isinstance(results[-1], TooSoon)


@on_a_loop
async def test_secrets_wait_no_longer_for_whoever_comes(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = (await world.add_account()).account_id
        sealer = KeySealer(b"s" * 32, world.core.token_bytes)
        once: ShownOnce[str] = ShownOnce(core=world.core, sealer=sealer, name="words", shape=str)
        world.clock.advance(AHEAD)
        await once.put(ada, "one", "hush")
        world.clock.advance(-AHEAD)

        assert await once.take(ada, "one") is None


def test_who_signed_in_hours_ahead_proves_anew_who_they_are_and_is_noted() -> None:
    session = Session(
        session_id="s",
        account_id="ada",
        started_at=NOON + AHEAD,
        seen_at=NOON + AHEAD,
        address="",
        browser="",
    )

    assert not is_fresh(session, NOON)
    assert is_note_due(session, NOON)
