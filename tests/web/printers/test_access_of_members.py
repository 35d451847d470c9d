"""Every route of the application, asked by a member who watches, one who controls, and a stranger.

Nothing here names the routes that are closed: whatever is not listed as a member's is the owner's.
"""

import re
from collections.abc import Iterator

import pytest
from httpx import Response
from litestar.routes import HTTPRoute

from printreach.contract.files import FileList
from printreach.contract.status import Feature, State
from printreach.rules.printers.members import Role
from printreach.web.printers.access import NEEDED
from tests.web.printers.conftest import BOB, Home, printing
from tests.web.printers.members import CLEO, EVE, browser_of, let_in
from tests.web.printers.test_files import entry
from tests.web.world import BASE_URL, Browser, run

WATCHED = {
    *("GET ", "GET /events", "GET /history", "GET /history/print"),
    *("GET /history/prints.csv", "GET /history/prints.json"),
    *("GET /webcam/still", "GET /webcam/last", "GET /webcam/stream"),
    *("GET /detector/picture", "GET /detector/judged"),
    *("GET /leave", "POST /leave"),
}
CONTROLLED = {
    *("GET /control", "POST /pause", "POST /resume", "GET /stop", "POST /stop"),
    *("GET /heat", "POST /heat", "GET /move", "POST /move", "GET /home", "POST /home"),
    *("GET /extrude", "POST /extrude", "POST /light"),
    *("GET /preset", "POST /preset", "GET /cool", "POST /cool", "GET /adjust", "POST /adjust"),
    *("GET /emergency-stop", "POST /emergency-stop", "POST /restart-firmware"),
    *("GET /files", "POST /files", "GET /files/file", "GET /files/thumbnail"),
    *(
        "GET /files/replace",
        "GET /files/download",
        "GET /files/start",
        "POST /files/start",
        "GET /files/again",
    ),
}
EVERY_FEATURE = sum(Feature)
PRINTER = "/printers/{printer_id}"
LASTING = {"GET /events", "GET /webcam/stream"}
"""They end when their caller leaves, which a test's browser does not; test_open_to_members.py asks
them."""


@pytest.fixture
def shared(home: Home) -> Home:
    """Ada's printer, which prints, with its members; Bob is a stranger to it."""
    let_in(home, EVE, Role.WATCH)
    let_in(home, CLEO, Role.CONTROL)
    home.world.add_account(home.browser, BOB)
    home.says(printing(state=State.PAUSED))
    return home


def routes_of_a_printer(home: Home) -> Iterator[str]:
    """Yield the method and the path below the printer's of every route with a printer in it."""
    for route in home.world.app.routes:
        if isinstance(route, HTTPRoute) and route.path_format.startswith(PRINTER):
            for method in route.methods & {"GET", "POST", "PUT", "PATCH", "DELETE"}:
                yield f"{method} {route.path_format.removeprefix(PRINTER)}"


def ask(home: Home, browser: Browser, route: str) -> Response:
    method, _, path = route.partition(" ")
    path = path.replace("{person_id}", "p1").replace("{invitation_id}", "i1")
    query = {"path": "gcode/a.gcode", "name": "a.gcode", "id": "x", "camera": "0"}
    fields = {"path": "gcode/a.gcode", "name": "x", "confirm": "yes"}
    return browser.request(
        method,
        home.path + path,
        params=query,
        data=fields if method == "POST" else None,
        headers={"origin": BASE_URL},
        follow_redirects=False,
    )


def routes_on(page: str, base: str) -> Iterator[str]:
    """Yield the routes of a printer that a page links to, shows pictures of or has forms for."""
    for tag in re.findall(r"<[^>]+>", page):
        method = "POST" if 'method="post"' in tag or "formaction" in tag else "GET"
        for address in re.findall(r'(?:href|src|action|data-[a-z]+)="([^"]*)"', tag):
            if address.startswith(base):
                yield f"{method} {re.split('[?#]', address.removeprefix(base))[0]}"


def test_the_routes_that_members_may_use_are_these_and_no_others(home: Home) -> None:
    assert {route for route, role in NEEDED.items() if role is Role.WATCH} == WATCHED
    assert {route for route, role in NEEDED.items() if role is Role.CONTROL} == CONTROLLED
    assert set(NEEDED) <= set(routes_of_a_printer(home))


@pytest.mark.parametrize("email", [EVE, CLEO])
def test_whatever_needs_more_than_a_members_role_is_refused(shared: Home, email: str) -> None:
    mine = WATCHED | (CONTROLLED if email == CLEO else set())
    with browser_of(shared, email) as browser:
        refused = {
            route: ask(shared, browser, route).status_code
            for route in routes_of_a_printer(shared)
            if route not in mine
        }

    assert len(refused) > 10
    assert set(refused.values()) == {403}
    assert shared.orders == []
    assert shared.world.printers.uploads == {}


def test_a_stranger_is_told_by_every_route_that_there_is_no_such_printer(shared: Home) -> None:
    with browser_of(shared, BOB) as browser:
        answers = {
            route: ask(shared, browser, route).status_code for route in routes_of_a_printer(shared)
        }

    assert {route for route, status in answers.items() if status != 404} == set()
    assert shared.orders == []


@pytest.mark.parametrize("email", [EVE, CLEO])
def test_a_member_is_refused_nothing_that_their_role_includes(shared: Home, email: str) -> None:
    mine = WATCHED | (CONTROLLED if email == CLEO else set())
    with browser_of(shared, email) as browser:
        answers = {
            route: ask(shared, browser, route)
            for route in sorted(mine - LASTING - {"POST /files", "POST /leave"})
        }

    refused = {
        route: answer.status_code
        for route, answer in answers.items()
        if answer.status_code in (401, 403) or "in your account" in answer.text
    }
    assert refused == {}


@pytest.mark.parametrize("email", [EVE, CLEO, BOB])
def test_no_other_route_takes_a_printer_of_somebody_else(shared: Home, email: str) -> None:
    """Routes that name a printer by a field or a query, or below another path, are the owner's."""
    printer = shared.printer_id
    with browser_of(shared, email) as browser:
        headers = {"origin": BASE_URL}

        def post(path: str, **fields: str) -> Response:
            return browser.post(path, data=fields, headers=headers, follow_redirects=False)

        share = post("/connections/share", printer=printer, ends="24", name="me", interface="yes")
        live = post("/connections/live", printer=printer, ends="24")
        notifications = browser.get(f"/notifications/printers/{printer}")
        preset = post("/account/presets/remove", name="PLA")
        page = browser.get("/connections").text

    assert share.status_code in (400, 404)
    assert live.status_code in (400, 404)
    assert notifications.status_code == (404 if email == BOB else 200)
    assert preset.status_code == 303
    assert "Workbench" not in page
    of_account = shared.world.services.presets.of_account
    presets = run(shared.browser, lambda: of_account(shared.account_id))
    assert len(presets) == 3


@pytest.mark.parametrize("state", [State.PAUSED, State.PRINTING, State.ERROR])
@pytest.mark.parametrize("email", [EVE, CLEO])
def test_pages_show_a_member_no_link_and_no_form_that_is_not_for_their_role(
    shared: Home, email: str, state: State
) -> None:
    shared.says(printing(state=state, features=EVERY_FEATURE))
    paths = ["/printers", shared.path, f"{shared.path}/history", f"{shared.path}/leave"]
    if email == CLEO:
        paths += [f"{shared.path}/control", f"{shared.path}/files", f"{shared.path}/stop"]
    mine = WATCHED | (CONTROLLED if email == CLEO else set())
    with browser_of(shared, email) as browser:
        offered = {
            route
            for path in paths
            for route in routes_on(browser.get(path).text, shared.path)
            if route in set(routes_of_a_printer(shared))
        }

    assert "GET /history" in offered
    assert (state is State.PAUSED and email == CLEO) == ("POST /resume" in offered)
    assert offered - mine == set()


def test_the_list_shows_what_is_shared_and_by_whom(shared: Home) -> None:
    with browser_of(shared, EVE) as browser:
        text = browser.get("/printers").text

    assert "Workbench" in text
    assert "Shared by ada@example.org" in text
    assert "Shared by" not in shared.browser.get("/printers").text


def test_a_member_stops_a_print_and_a_lock_of_the_owner_holds_for_them(shared: Home) -> None:
    with browser_of(shared, CLEO) as browser:
        assert ask(shared, browser, "POST /stop").status_code == 303

    assert [order.despite_lock for order in shared.orders] == [False]
    shared.send("/stop")
    assert [order.despite_lock for order in shared.orders] == [False, True]


@pytest.mark.parametrize("path", ["", "/control", "/files"])
@pytest.mark.parametrize("state", [State.PAUSED, State.IDLE])
def test_a_member_who_controls_is_told_of_the_owners_lock(
    shared: Home, path: str, state: State
) -> None:
    shared.browser.post("/stop-everything", headers={"origin": BASE_URL})
    shared.says(printing(state=state, features=EVERY_FEATURE))
    shared.world.printers.answers["/files/list"] = FileList(root=[entry("part.gcode")])
    told = "owner can unlock it."
    with browser_of(shared, CLEO) as browser:
        page = browser.get(shared.path + path).text
    with browser_of(shared, EVE) as browser:
        watching = browser.get(shared.path).text

    assert told in page
    offered = set(routes_on(page, shared.path))
    assert not offered & {"POST /files", "POST /resume", "POST /stop", "POST /home", "POST /heat"}
    assert told not in watching
    assert told not in shared.get(path).text


def test_nobody_elses_lock_is_offered_to_be_unlocked(shared: Home) -> None:
    shared.browser.post("/stop-everything", headers={"origin": BASE_URL})
    with browser_of(shared, CLEO) as browser:
        text = browser.get(shared.path).text

    assert "/remote-lock" not in text
