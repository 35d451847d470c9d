"""Live Links that apps make."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import update

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.contract.status import State
from printreach.hub.apps import remove_app
from printreach.hub.connections.live_links import LiveWish
from printreach.rules.connections.live_links import MAX_LIVE_LINKS, LiveLink
from printreach.store.store import Records
from printreach.store.tables import connections
from tests.fakes.printer_http import OFFLINE
from tests.rules.detection.test_jpeg import picture
from tests.web.conftest import MakeWorld
from tests.web.connections.calling_app import CallingApp, connect
from tests.web.connections.conftest import SNAPSHOT, at_print
from tests.web.connections.test_app_connection import allow
from tests.web.world import ADA, BASE_URL, Browser, run

PATH = "/api/live/createfromappconnection"


def page(app_call: CallingApp, address: str) -> int:
    path = address.removeprefix(BASE_URL)
    return app_call.program.get(path, headers={"accept": "text/html"}).status_code


def test_an_app_makes_a_link_that_lives_for_a_day(app_call: CallingApp) -> None:
    answer = app_call.post(PATH).json()
    made = answer["Result"]

    assert answer == {"Status": 200, "Result": made}
    assert set(made) == {"LiveId", "Url", "ShortUrl"}
    assert made["Url"] == f"{BASE_URL}/live/{made['LiveId']}"
    assert len(made["ShortUrl"]) < len(made["Url"])
    assert page(app_call, made["Url"]) == page(app_call, made["ShortUrl"]) == 200
    app_call.world.clock.advance(timedelta(hours=24))
    assert page(app_call, made["Url"]) == 410


def test_a_link_shows_the_camera_only_while_its_app_may_see_it(app_call: CallingApp) -> None:
    app_call.says(at_print("print-1"))
    app_call.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    made = app_call.post(PATH).json()["Result"]
    path = made["Url"].removeprefix(BASE_URL)
    assert app_call.program.get(f"{path}/picture").status_code == 200

    allow(app_call, *(ALL_PERMISSIONS - {Permission.CAMERA}))
    app_call.world.clock.advance(timedelta(seconds=3))

    shown = app_call.program.get(path, headers={"accept": "text/html"})
    assert shown.status_code == 200
    assert f"{path}/picture" not in shown.text
    assert app_call.program.get(f"{path}/picture").status_code == 404


def test_a_call_without_a_body_is_one_without_wishes(app_call: CallingApp) -> None:
    answer = app_call.program.post(PATH, headers={"AppToken": app_call.token})

    assert answer.status_code == 200


def test_an_app_says_how_long_its_link_lives(app_call: CallingApp) -> None:
    made = app_call.post(PATH, {"ExpirationHours": 2}).json()["Result"]
    app_call.world.clock.advance(timedelta(hours=2, seconds=-1))
    assert page(app_call, made["Url"]) == 200
    app_call.world.clock.advance(timedelta(seconds=1))
    assert page(app_call, made["Url"]) == 410


@pytest.mark.parametrize(
    "body",
    [
        {"ExpirationHours": 0},
        {"ExpirationHours": 17_521},
        {"ExpirationHours": -1},
        {"ExpirationHours": 1.5},
        {"ExpirationHours": "long"},
        {"ExpirationHours": "6"},
        {"ExpirationHours": True},
        {"ExpirationHours": None},
        {"EndWhenCurrentPrintIsComplete": "yes"},
        {"EndWhenCurrentPrintIsComplete": "true"},
        {"EndWhenCurrentPrintIsComplete": 1},
        {"EndWhenCurrentPrintIsComplete": None},
        [],
    ],
)
def test_what_makes_no_sense_makes_no_link(app_call: CallingApp, body: object) -> None:
    answer = app_call.post(PATH, body)

    assert answer.status_code == 400
    assert answer.json()["Status"] == 400


def test_what_isnt_known_is_ignored_and_names_are_as_they_are_written(app_call: CallingApp) -> None:
    body = {"Colour": "red", "expirationHours": 2, "AppToken": 5 * "x"}
    made = app_call.post(PATH, body).json()["Result"]
    app_call.world.clock.advance(timedelta(hours=23))

    assert page(app_call, made["Url"]) == 200


def test_what_is_no_json_is_refused(app_call: CallingApp) -> None:
    headers = {"AppToken": app_call.token, "content-type": "application/json"}
    answer = app_call.program.post(PATH, content=b'{"ExpirationHours": 2', headers=headers)

    assert answer.status_code == 400


def test_a_link_may_end_with_the_print_under_way(app_call: CallingApp) -> None:
    app_call.says(at_print("print-1"))
    made = app_call.post(PATH, {"EndWhenCurrentPrintIsComplete": True}).json()["Result"]
    assert page(app_call, made["Url"]) == 200
    app_call.world.clock.advance(timedelta(seconds=5))
    app_call.says(at_print("print-1", State.COMPLETE))

    assert page(app_call, made["Url"]) == 410


@pytest.mark.provokes(613)
@pytest.mark.parametrize("state", [State.IDLE, State.COMPLETE, State.ERROR])
def test_a_link_that_should_end_with_a_print_needs_one(app_call: CallingApp, state: State) -> None:
    app_call.says(at_print("print-1", state))
    answer = app_call.post(PATH, {"EndWhenCurrentPrintIsComplete": True})

    assert answer.status_code == 613
    assert answer.headers["x-service-error"] == "613"


def test_a_printer_that_is_away_cant_tell_which_print_is_under_way(app_call: CallingApp) -> None:
    app_call.world.printers.statuses[app_call.printer_id] = OFFLINE
    answer = app_call.post(PATH, {"EndWhenCurrentPrintIsComplete": True})

    assert answer.status_code == 601


def test_an_app_cannot_fill_the_store_with_links(app_call: CallingApp) -> None:
    codes = [app_call.post(PATH).status_code for _ in range(MAX_LIVE_LINKS + 1)]

    assert codes == [200] * MAX_LIVE_LINKS + [400]


def test_an_apps_link_shows_no_names(app_call: CallingApp) -> None:
    app_call.says(at_print("print-1"))
    made = app_call.post(PATH).json()["Result"]
    path = made["Url"].removeprefix(BASE_URL)
    shown = app_call.program.get(path, headers={"accept": "text/html"}).text

    assert "Workbench" not in shown
    assert "vase" not in shown


def everything_answered(program: Browser, address: str) -> tuple[int, int]:
    """The codes of a link's page and of its picture."""
    path = address.removeprefix(BASE_URL)
    shown = program.get(path, headers={"accept": "text/html"}).status_code
    return shown, program.get(f"{path}/picture").status_code


def end_as_owner(app_call: CallingApp) -> Awaitable[object]:
    own = app_call.world.services.own_connections
    return own.end(app_call.account_id, app_call.connection_id)


def revoke_as_operator(app_call: CallingApp) -> Awaitable[object]:
    return app_call.world.services.connections.revoke(app_call.connection_id)


def remove_its_app(app_call: CallingApp) -> Awaitable[object]:
    at = app_call.world.clock.now()
    return app_call.world.store.write(lambda records: remove_app(records, "demo", at))


def let_it_run_out(app_call: CallingApp) -> Awaitable[object]:
    its_row = connections.c.connection_id == app_call.connection_id
    ends = update(connections).where(its_row).values(expires_at=app_call.world.clock.now())

    async def write(records: Records) -> None:
        await records.connection.execute(ends)

    return app_call.world.store.write(write)


@pytest.mark.parametrize("end", [end_as_owner, revoke_as_operator, remove_its_app, let_it_run_out])
def test_a_link_ends_with_the_app_connection_that_made_it(
    app_call: CallingApp, end: Callable[[CallingApp], Awaitable[object]]
) -> None:
    app_call.says(at_print("print-1"))
    app_call.world.printers.raw[SNAPSHOT] = ("image/jpeg", picture())
    made = app_call.post(PATH, {"ExpirationHours": 17_520}).json()["Result"]
    assert everything_answered(app_call.program, made["Url"]) == (200, 200)

    async def end_it() -> None:
        await end(app_call)

    run(app_call.program, end_it)
    app_call.world.clock.advance(timedelta(seconds=3))

    assert everything_answered(app_call.program, made["Url"]) == (410, 404)
    path = made["Url"].removeprefix(BASE_URL)
    page_then = app_call.program.get(path, headers={"accept": "text/html"}).text
    assert "The app that shared it no longer has access to the printer." in page_then
    assert "<dt>Ended</dt>" not in page_then, "its time is not over"
    assert "event: reload" in app_call.program.get(f"{path}/events").text


def test_links_of_an_ended_app_connection_are_neither_listed_nor_counted(
    app_call: CallingApp,
) -> None:
    links = app_call.world.services.live_links
    for _ in range(MAX_LIVE_LINKS):
        app_call.post(PATH, {"ExpirationHours": 17_520})

    async def end_then_list_and_make() -> tuple[int, object]:
        await end_as_owner(app_call)
        listed = len(await links.all(app_call.account_id))
        return listed, await links.make(app_call.account_id, app_call.printer_id, LiveWish())

    listed, made = run(app_call.program, end_then_list_and_make)
    assert listed == 0
    assert isinstance(made, LiveLink)


def test_a_link_of_an_app_shows_nothing_while_the_owner_is_no_supporter(
    world_with: MakeWorld,
) -> None:
    with world_with(SUPPORTERS="granted") as (world, program):
        account = world.add_account(program)
        printer, made = connect(world, program, account.account_id, "Workbench")
        links = world.services.live_links

        async def become_supporter() -> None:
            until = world.clock.now() + timedelta(days=1)
            await world.services.accounts.set_supporter(ADA, granted=True, until=until)

        def make(connection_id: str | None) -> str:
            wish = LiveWish(hours=100, connection_id=connection_id)

            async def made() -> str:
                link = await links.make(account.account_id, printer.printer_id, wish)
                assert isinstance(link, LiveLink)
                return f"/live/{link.live_id}"

            return run(program, made)

        run(program, become_supporter)
        of_app, of_owner = make(made.connection_id), make(None)
        codes = []
        for _ in range(2):
            codes += [everything_answered(program, one)[0] for one in (of_app, of_owner)]
            world.clock.advance(timedelta(days=1))
        run(program, become_supporter)
        world.clock.advance(timedelta(seconds=3))
        codes.append(everything_answered(program, of_app)[0])

        assert codes == [200, 200, 410, 200, 200]
