"""A Live Link's event stream: a crowd costs the printer as much as one, and leaves room."""

import pytest

from printreach.contract.status import State
from printreach.hub.connections.live_links import LiveWish
from printreach.limiters.slots import Slots
from printreach.rules.connections.live_links import LiveLink
from printreach.web.connections import live_pages as pages
from printreach.web.connections.live_pages import limits_of_viewer
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.rules.detection.test_jpeg import picture
from tests.web.connections.conftest import SNAPSHOT, at_print
from tests.web.printers.listening import PRINTER_ID, Hall, hall
from tests.web.world import WebWorld


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "DRAWN_EVERY_S", 0.05)


async def link_of(here: Hall) -> LiveLink:
    rows = await here.world.store.read(lambda records: records.printers.row(PRINTER_ID))
    assert rows is not None
    links = here.world.services.live_links
    made = await links.make(rows.printer.account_id, PRINTER_ID, LiveWish())
    assert isinstance(made, LiveLink)
    return made


def test_a_crowd_costs_the_printer_as_much_as_one(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            world.printers.statuses[PRINTER_ID] = at_print("print-1")
            link = await link_of(here)
            path = f"/live/{link.live_id}/events"
            crowd = [here.listen(path) for _ in range(pages.MAX_PER_ADDRESS)]
            await until(lambda: all(one.parts() for one in crowd))

            assert here.watched == 1
            world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
            pictures = world.services.pictures
            taken = [await pictures.newest(link.printer) for _ in range(100)]
            assert len({id(one) for one in taken}) == 1
            for one in crowd:
                one.leave.set()
            await until(lambda: here.watched == 0)

    body()


def test_a_page_is_told_what_changes_and_that_it_is_over(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            world.printers.statuses[PRINTER_ID] = at_print("print-1")
            link = await link_of(here)
            listener = here.listen(f"/live/{link.live_id}/events")
            await until(listener.parts)
            world.printers.statuses[PRINTER_ID] = at_print("print-1", State.PAUSED)
            await until(lambda: any("Paused" in part for part in listener.parts()))
            links = world.services.live_links
            await links.end(link.account_id, link.live_id)
            await until(lambda: listener.is_over)

            assert listener.events()[-1] == ("reload", {})

    body()


def test_one_viewer_too_many_is_asked_to_come_back(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            link = await link_of(here)
            path = f"/live/{link.live_id}/events"
            crowd = [here.listen(path) for _ in range(pages.MAX_PER_ADDRESS)]
            await until(lambda: all(one.parts() for one in crowd))
            one_more = here.listen(path)
            await until(lambda: one_more.status)
            assert one_more.status == 429
            crowd[0].leave.set()
            await until(here.running[0].done)
            again = here.listen(path)
            await until(lambda: again.status)

            assert again.status == 200

    body()


def test_viewers_are_counted_by_link_by_address_and_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "MAX_PER_LINK", 3)
    monkeypatch.setattr(pages, "MAX_PER_ADDRESS", 2)
    monkeypatch.setattr(pages, "MAX_VIEWERS", 4)
    viewers = Slots(pages.MAX_VIEWERS)

    assert [viewers.take(limits_of_viewer("a", "192.0.2.1")) for _ in range(3)] == [
        True,
        True,
        False,
    ]
    assert [viewers.take(limits_of_viewer("a", f"192.0.2.{n}")) for n in (2, 3)] == [True, False]
    assert [viewers.take(limits_of_viewer("b", f"2001:db8::{n}")) for n in (1, 2)] == [True, False]
    viewers.release(limits_of_viewer("a", "192.0.2.1"))
    assert viewers.take(limits_of_viewer("b", "2001:db8:1::1"))


def test_a_customer_with_many_ipv6_networks_takes_the_room_of_sixteen() -> None:
    viewers = Slots(pages.MAX_VIEWERS)
    links = [str(number) for number in range(1000)]

    entered = [
        viewers.take(limits_of_viewer(links[n], f"2001:db8:0:{n << 4:x}::1")) for n in range(1000)
    ]

    assert sum(entered) == 16 * pages.MAX_PER_ADDRESS
    assert viewers.take(limits_of_viewer("a", "192.0.2.1"))


def test_a_viewer_that_leaves_before_the_first_event_is_not_counted(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            path = f"/live/{(await link_of(here)).live_id}/events"
            for _ in range(pages.MAX_PER_ADDRESS):
                hasty = here.listen(path)
                hasty.leave.set()
                await until(here.running[-1].done)
            again = here.listen(path)
            await until(lambda: again.status)

            assert again.status == 200

    body()
