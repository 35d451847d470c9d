"""The event stream of a page: its content, how often printers are asked, and when it ends."""

import asyncio
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from litestar.exceptions import TooManyRequestsException
from msgspec.structs import replace

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import DetectorStatus, State
from printreach.hub import leases
from printreach.hub.printers.live import INTERVAL_S
from printreach.hub.prints import PrintHistoryWriter
from printreach.hub.prints.fanout import Fanout
from printreach.web import quick_view
from printreach.web.printers import open_pages
from printreach.web.printers.open_pages import SharedParts
from printreach.web.printers.view import PrinterView, view_of
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.web.printers.conftest import printing
from tests.web.printers.listening import PRINTER_ID, Listener, hall, shared_by
from tests.web.world import WebWorld


@pytest.mark.slow
def test_a_page_is_told_what_changes_and_nothing_else(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listener = here.listen()
            await until(lambda: any("62%" in part for part in listener.parts()))
            told = len(listener.parts())
            world.printers.statuses[PRINTER_ID] = printing(state=State.PAUSED)
            said = ("say", {"words": "Workbench is paused."})
            await until(lambda: said in listener.events())

            assert listener.status == 200
            assert ["Paused" in card for card in listener.cards()[1:]] == [True]
            assert len(listener.parts()) == told + 1 + len(("filters", "top", "tabs"))

    body()


@pytest.mark.slow
def test_the_page_of_a_print_is_told_how_far_it_is(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            at = world.clock.now()
            event = PrintEvent(
                event_id="event-0001-1",
                event_type=EventType.STARTED,
                event_time_sec=int(at.timestamp()),
                print_id="print-1",
                file_name="vase.gcode",
            )
            await world.store.write(
                lambda records: records.events.append(PRINTER_ID, [event], at),
            )
            fanout = Fanout(world.core, [PrintHistoryWriter()], world.services.snapshots.take)
            await fanout.fan_out_due()
            await fanout.settled()
            await fanout.close()
            listener = here.listen(f"/printers/{PRINTER_ID}/events?page=print&id=print-1")
            await until(partial(_is_said, listener, "<dd data-ages>62%</dd>"))
            status = printing()
            now = replace(status.job_status.current_print, progress=75.0)
            job = replace(status.job_status, current_print=now)
            world.printers.statuses[PRINTER_ID] = replace(status, job_status=job)

            await until(partial(_is_said, listener, "<dd data-ages>75%</dd>"))

    body()


@pytest.mark.slow
def test_a_warning_of_the_failure_detector_is_said_once(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listener = here.listen()
            await until(lambda: bool(listener.parts()))
            for quality in (3, 2):
                warned = DetectorStatus(
                    last_score=105.0 - 10 * quality,
                    score_history=[80.0],
                    time_since_last_warn_sec=1.0,
                )
                world.printers.statuses[PRINTER_ID] = printing(detector=warned)
                words = f"{quality} of 10"
                await until(partial(_is_said, listener, words))

            said = [data["words"] for kind, data in listener.events() if kind == "say"]
            assert said == ["Possible failure: look at Workbench."]

    body()


def _is_said(listener: Listener, words: str) -> bool:
    return any(words in part for part in listener.parts())


def test_many_pages_ask_a_printer_as_often_as_one(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            now = asyncio.get_running_loop().time
            began_at = now()
            listeners = [here.listen() for _ in range(10)]
            listeners += [here.listen(f"/printers/{PRINTER_ID}/events") for _ in range(10)]
            await until(lambda: all(listener.parts() for listener in listeners))

            # One page has it asked at first, and once in each second that has passed.
            assert world.printers.asks[PRINTER_ID] <= 2 + (now() - began_at) // INTERVAL_S
            assert here.watched == 1

    body()


@pytest.mark.slow
def test_the_parts_that_pages_of_an_account_share_are_drawn_once(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def counted(*args: Any) -> PrinterView:
        drawn.append(args)
        return view_of(*args)

    monkeypatch.setattr(quick_view, "view_of", counted)

    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            now = asyncio.get_running_loop().time
            began_at = now()
            listeners = [here.listen(f"/printers/{PRINTER_ID}/events") for _ in range(15)]
            await until(lambda: all("Printing" in "".join(one.parts()) for one in listeners))
            world.printers.statuses[PRINTER_ID] = printing(state=State.PAUSED)
            await until(lambda: all("Paused" in "".join(one.parts()) for one in listeners))

            # Twice for a drawing, of which there may be one each half a second; and for each page
            # when it is asked for.
            drawings = 1 + (now() - began_at) // open_pages.DRAWN_EVERY_S
            assert len(drawn) <= 2 * drawings + len(listeners)

    body()


def test_one_page_too_many_of_an_account_ends_the_oldest(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listeners = []
            for _ in range(open_pages.MAX_STREAMS):
                listeners.append(here.listen())
                await until(listeners[-1].parts)
            oldest, *others = listeners
            newest = here.listen()
            await until(newest.parts)
            await until(lambda: oldest.is_over)

            assert oldest.text.rstrip().endswith("retry: 60000")
            assert not any(one.is_over for one in [*others, newest])

    body()


def test_ended_pages_whose_readers_are_slow_leave_no_room_for_any_number(world: WebWorld) -> None:
    pages = open_pages.OpenPages()
    shared = SharedParts(world.services.own_printers, shared_by("ada"), dict)  # type: ignore[arg-type]  # nothing is drawn
    with ExitStack() as open_ones:
        streams = [
            open_ones.enter_context(pages.opened(shared))
            for _ in range(open_pages.MAX_STREAMS + open_pages.MAX_ENDING)
        ]
        with pytest.raises(TooManyRequestsException):
            pages.check_room("ada")

        assert sum(one.is_ended for one in streams) == open_pages.MAX_ENDING
        pages.check_room("bob")
    pages.check_room("ada")


def test_pages_of_another_account_are_counted_apart(world: WebWorld) -> None:
    pages = open_pages.OpenPages()
    shared = {
        account: SharedParts(world.services.own_printers, shared_by(account), dict)  # type: ignore[arg-type]  # nothing is drawn
        for account in ("ada", "bob")
    }
    with ExitStack() as open_ones:
        first = open_ones.enter_context(pages.opened(shared["bob"]))
        for _ in range(open_pages.MAX_STREAMS):
            open_ones.enter_context(pages.opened(shared["ada"]))

        assert not first.is_ended
        assert first.shared is shared["bob"]


def test_nobody_is_asked_once_the_browser_left(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listener = here.listen()
            await until(lambda: here.watched == 1 and listener.parts())
            listener.leave.set()
            await until(lambda: here.watched == 0)

    body()


def test_the_stop_of_the_service_ends_a_stream_properly(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listener = here.listen()
            await until(listener.parts)
            here.app.end_streams()
            await until(lambda: listener.is_over)
            await until(lambda: here.watched == 0)

    body()


@pytest.mark.slow
def test_one_who_does_not_read_holds_up_nobody(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            slow, quick = here.listen(reads=False), here.listen()
            await until(quick.parts)
            world.printers.statuses[PRINTER_ID] = printing(state=State.COMPLETE)
            await until(lambda: "Complete" in "".join(quick.parts()))
            slow.reads.set()
            await until(lambda: "Complete" in "".join(slow.parts()))

            # It missed what was in between: the first part it gets may be old, the next is of now.
            assert len(slow.cards()) <= 2

    body()


def test_a_page_whose_session_has_ended_is_told_to_reload(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            listener = here.listen()
            await until(listener.parts)
            await world.services.sessions.end_with_token(here.token)
            await until(lambda: listener.is_over)
            assert listener.events()[-1] == ("reload", {})

    body()


@pytest.mark.slow
def test_a_printer_that_comes_back_is_shown_at_once(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            world.printers.statuses.clear()
            listener = here.listen()
            await until(lambda: "Offline" in "".join(listener.parts()))
            world.clock.advance(timedelta(seconds=1))
            world.printers.statuses[PRINTER_ID] = printing()
            await until(lambda: "Printing" in listener.cards()[-1])

    body()


def ways(listener: Listener) -> list[str]:
    """The way to the printer's own interface, as it was told each time."""
    return [part for part in listener.parts() if 'id="part-open"' in part]


@pytest.mark.slow
def test_its_open_page_has_the_picture_and_the_way_to_it_again(world: WebWorld) -> None:
    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            world.printers.statuses.clear()
            listener = here.listen(f"/printers/{PRINTER_ID}/events")
            await until(lambda: "No picture yet" in "".join(listener.parts()))
            assert "/webcam/stream" not in "".join(listener.parts())
            world.clock.advance(timedelta(seconds=1))
            world.printers.statuses[PRINTER_ID] = printing()
            await until(lambda: "/webcam/stream?index=0" in "".join(listener.parts()))

            await until(lambda: "Open its own interface" in ways(listener)[-1])
            assert " hidden>" in ways(listener)[0]

    body()
