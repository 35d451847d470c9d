"""What lasts ends for a member as their access ends, and as they lose the role that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import pytest

from printreach.hub import leases
from printreach.ports import Notice, Topic
from printreach.rules.printers.members import Member, Role
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.web.lasting import FIELD, FILE, PRINTER_ID, UPLOAD, Caller, Home, home
from tests.web.world import WebWorld

Lose = Callable[[Home], Awaitable[object]]
PRINTER: Final = f"/printers/{PRINTER_ID}"


async def let_ada_in(here: Home, role: Role) -> None:
    """Make the printer Bob's, and Ada, who is signed in, a member of it."""

    async def change(records: Records) -> None:
        await records.printers.link(replace(here.printer, account_id=here.bob.account_id))
        member = Member(
            printer_id=PRINTER_ID,
            account_id=here.bob.account_id,
            person_id=here.ada.account_id,
            role=role,
            since=here.world.clock.now(),
        )
        await records.members.put(member)

    await here.world.store.write(change)


async def end(here: Home) -> None:
    await here.world.services.members.end(here.bob.account_id, PRINTER_ID, here.ada.account_id)


async def leave(here: Home) -> None:
    await here.world.services.members.leave(here.ada.account_id, PRINTER_ID)


async def take_control(here: Home) -> None:
    owner_id, person_id = here.bob.account_id, here.ada.account_id
    await here.world.services.members.change_role(owner_id, PRINTER_ID, person_id, Role.WATCH)


async def block_owner(here: Home) -> None:
    at = here.world.clock.now()
    await here.world.store.write(
        lambda records: records.accounts.set_blocked(here.bob.account_id, at)
    )


ENDS: Final[dict[str, Lose]] = {"ended": end, "left": leave, "owner blocked": block_owner}
LASTING: Final[dict[str, dict[str, Lose]]] = {
    f"{PRINTER}/events": ENDS,
    f"{PRINTER}/webcam/stream": ENDS,
    f"{PRINTER}/files/download": ENDS | {"control taken": take_control},
}


async def begun(here: Home, path: str) -> Caller:
    caller = here.ask(path)
    await until(lambda: bool(caller.body))
    return caller


@pytest.mark.parametrize(
    ("path", "loss"), [(path, loss) for path, losses in LASTING.items() for loss in losses]
)
def test_what_lasts_ends_with_the_members_access(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, path: str, loss: str
) -> None:
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            await let_ada_in(here, Role.CONTROL)
            caller = await begun(here, path)
            assert caller.status == 200
            await LASTING[path][loss](here)
            await until(lambda: caller.is_over)

    body()


def test_an_upload_under_way_ends_as_control_is_taken_and_leaves_no_whole_file(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWED_EVERY_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            await let_ada_in(here, Role.CONTROL)
            caller = here.ask(UPLOAD, method="POST")
            caller.uploads(FIELD + FILE)
            await until(lambda: bool(world.printers.begun.get("gcode/foreign.gcode")))
            await take_control(here)
            await until(lambda: caller.is_over)
            assert world.printers.uploads == {}

    body()


def test_the_end_is_heard_by_a_notice_and_not_only_after_a_while(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            await let_ada_in(here, Role.WATCH)
            caller = await begun(here, f"{PRINTER}/webcam/stream")
            await end(here)
            await world.bus.publish(Notice(Topic.PRINTER, PRINTER_ID))
            await until(lambda: caller.is_over)

    body()


@pytest.mark.parametrize("path", [f"{PRINTER}/events", "/printers/events"])
def test_an_open_page_loads_again_as_the_role_changes(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            await let_ada_in(here, Role.CONTROL)
            caller = await begun(here, path)
            await until(lambda: b"event: part" in caller.body)
            assert b"event: reload" not in caller.body
            await take_control(here)
            await world.bus.publish(Notice(Topic.PRINTER, PRINTER_ID))
            await until(lambda: b"event: reload" in caller.body)

    body()


def test_the_list_loads_again_as_a_printer_leaves_it(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_a_loop
    async def body() -> None:
        async with home(world, monkeypatch) as here:
            await let_ada_in(here, Role.WATCH)
            caller = await begun(here, "/printers/events")
            await until(lambda: b"event: part" in caller.body)
            await end(here)
            await world.bus.publish(Notice(Topic.PRINTER, PRINTER_ID))
            await until(lambda: b"event: reload" in caller.body)

    body()
