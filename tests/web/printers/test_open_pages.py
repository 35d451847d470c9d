"""Updates of open pages beside readings: a lock of remote control, and the end of a print."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.hub.printers.remote_lock import lock
from printreach.ports import Notice, Topic
from printreach.rules.prints.history import Print, PrintResult
from printreach.rules.watch.choices import LastLook
from printreach.store.store import Records
from printreach.web import quick_view
from printreach.web.printers import open_pages
from printreach.web.watch import view
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.web.printers.listening import PRINTER_ID, hall
from tests.web.watch.watching import PRINT, a_look, under_watch
from tests.web.world import ADA, WebWorld


def test_open_pages_are_loaded_again_when_remote_control_is_locked_and_unlocked(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_pages, "HEARTBEAT_S", 3600.0)  # a heartbeat looks for a lock as well

    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            paths = ["/printers/events", f"/printers/{PRINTER_ID}/events"]
            listeners = [here.listen(path) for path in paths]
            await until(lambda: all(listener.parts() for listener in listeners))
            assert not any(("reload", {}) in listener.events() for listener in listeners)
            account_id = await _account_id(world)

            await world.store.write(lambda records: lock(records, account_id, world.clock.now()))
            await world.bus.publish(Notice(Topic.ACCOUNT, account_id))

            await until(lambda: all(("reload", {}) in one.events() for one in listeners))

    body()


def test_the_last_prints_of_an_open_page_tell_of_a_print_that_was_stopped(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick_view, "LOOKED_UP_EVERY", timedelta(0))

    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            at = world.clock.now()
            begun = Print(
                account_id=await _account_id(world),
                printer_id=PRINTER_ID,
                printer_name="Workbench",
                print_id="print-1",
                file_name="vase.gcode",
                started_at=at,
                heard_at=at,
                result=PrintResult.UNDER_WAY,
            )
            await world.store.write(lambda records: records.prints.put(begun))
            listener = here.listen(f"/printers/{PRINTER_ID}/events")
            await until(
                lambda: any(
                    "Last prints" in part and "Printing" in part for part in listener.parts()
                )
            )

            over = replace(begun, ended_at=at, result=PrintResult.CANCELLED)
            await world.store.write(lambda records: records.prints.put(over))

            await until(
                lambda: any(
                    "Last prints" in part and "Cancelled" in part for part in listener.parts()
                )
            )

    body()


def test_an_open_page_shows_an_answer_about_a_warning_at_once(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "LOOKED_UP_EVERY", timedelta(hours=1))

    @on_a_loop
    async def body() -> None:
        async with hall(world) as here:
            at, account_id = world.clock.now(), await _account_id(world)
            world.printers.statuses[PRINTER_ID] = under_watch(5)

            async def warn(records: Records) -> None:
                await records.watches.begin(PRINTER_ID, account_id, PRINT, at)
                seen = LastLook(look=a_look(at, 95, warned=True), evidence=(), picture=None)
                watched = await records.watches.under_watch(PRINTER_ID)
                assert watched is not None
                await records.watches.add_look(watched, seen)

            await world.store.write(warn)
            listener = here.listen(f"/printers/{PRINTER_ID}/events")
            await until(lambda: any("Was this right?" in part for part in listener.parts()))

            choices = world.services.watch_choices
            await choices.judge(account_id, PRINTER_ID, PRINT, was_failure=False)
            await world.bus.publish(Notice(Topic.DETECTOR, PRINTER_ID))

            await until(
                lambda: any("You said: no, the print was fine" in part for part in listener.parts())
            )

    body()


async def _account_id(world: WebWorld) -> str:
    (account,) = [one for one in await world.services.accounts.all() if one.email == ADA]
    return account.account_id
