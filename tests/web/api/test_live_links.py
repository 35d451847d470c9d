"""Live Links that apps make."""

from datetime import timedelta

import pytest

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.contract.status import State
from printreach.rules.live_links import MAX_LIVE_LINKS
from tests.fakes.printer_http import OFFLINE
from tests.rules.test_jpeg import picture
from tests.web.api.conftest import CallingApp
from tests.web.api.test_app_connection import allow
from tests.web.live.conftest import SNAPSHOT, at_print
from tests.web.world import BASE_URL

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
