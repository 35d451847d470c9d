"""Lasting answers: each of them ends when the access that it began with has ended."""

from typing import Final

import pytest

from printreach.hub import leases
from printreach.hub.connections.live_links import KNOWN_FOR, LiveWish
from printreach.hub.leases import Access, Leases
from printreach.ports import Notice, StoreUnavailable, Topic
from printreach.rules.connections.live_links import LiveLink
from printreach.web.connections import live_pages
from printreach.web.printers import uploads
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.web.lasting import (
    END,
    FIELD,
    FILE,
    FORM_TYPE,
    LASTING,
    OF_PRINTER,
    OF_SESSION,
    PRINTER_ID,
    UPLOAD,
    Caller,
    Home,
    home,
    remove,
)
from tests.web.world import WebWorld

FILES: Final = ("/download", ".csv", ".json", "/export")
"""Endings of paths whose answers must not look whole where they were broken off."""


async def _begun(here: Home, what: str) -> Caller:
    """Ask for it, and have it begin. What would be whole at once is read slowly."""
    if what == "a live link":
        made = await here.world.services.live_links.make(
            here.ada.account_id, PRINTER_ID, LiveWish()
        )
        assert isinstance(made, LiveLink)
        what = f"/live/{made.live_id}/events"
    kind, _, path = what.rpartition(" ")
    caller = here.ask(path, kind or "http", is_slow=path.endswith((".csv", ".json", "/export")))
    if path.endswith("/still"):  # a picture comes whole or not at all
        await until(lambda: bool(here.world.printers.opened))
    else:
        await until(lambda: bool(caller.body))
    return caller


@pytest.mark.parametrize(
    ("what", "loss"), [(what, loss) for what, losses in LASTING.items() for loss in losses]
)
def test_what_lasts_ends_with_the_access_that_it_began_with(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, what: str, loss: str
) -> None:
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)
    monkeypatch.setattr(live_pages, "DRAWN_EVERY_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = await _begun(here, what)
            await LASTING[what][loss](here)
            if what == "a live link":  # is looked up anew every two seconds, for all its viewers
                world.clock.advance(KNOWN_FOR)
            else:  # a stream of events looks for itself, too, whether its account is blocked
                await until(lambda: here.was_refused.is_set() or caller.is_over)
            caller.goes_on.set()
            await until(lambda: caller.is_over)
            if what.endswith(FILES):
                assert not caller.is_whole
            if what.endswith("/still"):
                assert caller.status in (401, 404)

    body()


@pytest.mark.parametrize("loss", OF_SESSION | OF_PRINTER)
def test_an_upload_whose_file_begins_after_the_access_has_ended_reaches_no_printer(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = here.ask(UPLOAD, method="POST")
            caller.uploads(FIELD)
            await until(caller.sent.empty)
            await (OF_SESSION | OF_PRINTER)[loss](here)
            caller.uploads(FILE)
            caller.uploads(END, more=False)
            await until(lambda: caller.is_over)
            assert caller.status == (404 if loss in OF_PRINTER else 401)
            assert world.printers.begun == {}

    body()


@pytest.mark.parametrize("loss", OF_SESSION | OF_PRINTER)
def test_an_upload_under_way_ends_with_its_access_and_leaves_no_whole_file(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = here.ask(UPLOAD, method="POST")
            caller.uploads(FIELD + FILE)
            await until(lambda: bool(world.printers.begun.get("gcode/foreign.gcode")))
            await (OF_SESSION | OF_PRINTER)[loss](here)
            await until(lambda: caller.is_over)
            assert caller.status == (404 if loss in OF_PRINTER else 401)
            assert world.printers.uploads == {}

    body()


@pytest.mark.parametrize("loss", OF_SESSION)
def test_a_form_that_came_slowly_does_nothing_once_its_session_has_ended(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            path = f"/printers/{PRINTER_ID}/pause"
            caller = here.ask(path, method="POST", content_type=FORM_TYPE)
            caller.uploads(b"back=")
            await until(caller.sent.empty)
            await OF_SESSION[loss](here)
            caller.uploads(b"x", more=False)
            await until(lambda: caller.is_over)
            assert caller.status == 401
            assert world.printers.orders == []

    body()


def test_a_notice_ends_what_lasts_at_once(world: WebWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 600)

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = await _begun(here, f"/printers/{PRINTER_ID}/webcam/stream")
            await remove(here)
            await world.bus.publish(Notice(Topic.PRINTER, PRINTER_ID))
            await until(lambda: caller.is_over)

    body()


def test_what_lasts_goes_on_where_another_session_of_the_account_ends(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = await _begun(here, f"/printers/{PRINTER_ID}/webcam/stream")
            look = Leases.look

            async def look_and_count(self: Leases, access: Access) -> None:
                await look(self, access)
                looks.append(access)

            monkeypatch.setattr(Leases, "look", look_and_count)
            await world.services.sessions.end_with_token(here.elsewhere.token)
            await world.bus.publish(Notice(Topic.ACCOUNT, here.ada.account_id))
            await until(lambda: bool(looks))
            assert not caller.is_over

    body()


def test_a_store_that_is_away_for_a_moment_ends_nothing(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = await _begun(here, f"/printers/{PRINTER_ID}/webcam/stream")

            async def fail(_self: Leases, access: Access) -> None:
                looks.append(access)
                raise StoreUnavailable("the disk is full")

            monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)
            monkeypatch.setattr(Leases, "look", fail)
            await world.bus.publish(Notice(Topic.ACCOUNT, here.ada.account_id))
            await until(lambda: len(looks) > 1)
            assert not caller.is_over

    body()


def test_an_upload_whose_file_does_not_begin_is_ended(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "BEFORE_FILE_S", 0.2)

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = here.ask(UPLOAD, method="POST")
            caller.uploads(FIELD)
            await until(lambda: caller.is_over)
            assert caller.status == 408
            assert b"30 seconds" in caller.body

    body()


def test_an_upload_with_too_much_before_its_file_is_refused(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            caller = here.ask(UPLOAD, method="POST")
            caller.uploads(FIELD)
            caller.uploads(b"x" * uploads.MAX_BYTES_BEFORE_FILE)
            await until(lambda: caller.is_over)
            assert caller.status == 413
            assert b"64 KiB" in caller.body

    body()
