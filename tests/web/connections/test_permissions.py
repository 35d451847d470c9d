"""An owner changes the permissions of a connection, and sees them."""

import re

import pytest

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.rules.connections import Connection
from tests.web.connections.test_connections import connect_app
from tests.web.printers.conftest import Home
from tests.web.world import run, send


def stored(home: Home, connection_id: str) -> Connection:
    async def look() -> Connection:
        found = await home.world.store.read(lambda records: records.connections.get(connection_id))
        assert found is not None
        return found

    return run(home.browser, look)


def share(home: Home, **ticks: str) -> str:
    """Share the printer; the id of the connection."""
    answer = send(home.browser, "/connections/share", printer=home.printer_id, ends="24", **ticks)
    assert answer.status_code == 303
    return str(answer.headers["location"]).split("/")[2]


def ticked(page: str) -> set[Permission]:
    return {one for one in Permission if f'name="{one.value}" value="yes" checked' in page}


def test_the_page_of_an_apps_connection_changes_what_it_may_do(home: Home) -> None:
    connection_id = connect_app(home)
    path = f"/connections/{connection_id}"
    assert ticked(home.browser.get(path).text) == ALL_PERMISSIONS

    saved = send(home.browser, f"{path}/permissions", choice="ticked", camera="yes")

    assert saved.headers["location"] == path
    assert stored(home, connection_id).permissions == {Permission.CAMERA}
    assert ticked(home.browser.get(path).text) == {Permission.CAMERA}
    assert "without control, files and its web page" in home.browser.get("/connections").text


@pytest.mark.parametrize(
    ("ticks", "words"),
    [
        (
            ("interface",),
            "with the printer's own web page, which includes control, files and camera",
        ),
        (
            ("interface", "camera"),
            "with the printer's own web page, which includes control and files",
        ),
        (("control", "camera"), "without files and its web page"),
    ],
)
def test_a_list_never_says_that_the_printers_own_interface_is_without_control(
    home: Home, ticks: tuple[str, ...], words: str
) -> None:
    connection_id = connect_app(home)
    chosen = dict.fromkeys(ticks, "yes")
    send(home.browser, f"/connections/{connection_id}/permissions", choice="ticked", **chosen)

    page = home.browser.get("/connections").text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    assert words in page


def test_everything_but_the_status_can_be_taken(home: Home) -> None:
    connection_id = connect_app(home)
    send(home.browser, f"/connections/{connection_id}/permissions", choice="ticked")

    assert stored(home, connection_id).permissions == frozenset()
    assert "status only" in home.browser.get("/connections").text


def test_a_printer_is_shared_with_the_permissions_that_are_ticked(home: Home) -> None:
    connection_id = share(home, choice="ticked", camera="yes", control="yes")
    page = home.browser.get(f"/connections/{connection_id}").text

    assert stored(home, connection_id).permissions == {Permission.CAMERA, Permission.CONTROL}
    assert ticked(page) == {Permission.CAMERA, Permission.CONTROL}
    assert "Events" not in page


def test_no_link_for_browsers_is_shown_where_nothing_would_open(home: Home) -> None:
    opens = share(home, choice="ticked", interface="yes")
    only_camera = share(home, choice="ticked", camera="yes")

    assert "The link as a picture" in home.browser.get(f"/connections/{opens}/secrets").text
    page = home.browser.get(f"/connections/{only_camera}/secrets").text
    assert "open in a browser" in page
    assert "The link as a picture" not in page


def test_a_form_that_was_wrong_keeps_its_ticks(home: Home) -> None:
    answer = send(
        home.browser,
        "/connections/share",
        printer=home.printer_id,
        ends="some day",
        choice="ticked",
        files="yes",
    )

    assert answer.status_code == 400
    assert ticked(answer.text) == {Permission.FILES}


@pytest.mark.parametrize("path", ["", "/permissions"])
def test_another_accounts_connection_is_not_found(home: Home, bobs_printer: str, path: str) -> None:
    connection_id = connect_app(home, bobs_printer)
    address = f"/connections/{connection_id}{path}"
    answer = home.browser.get(address) if not path else send(home.browser, address, choice="ticked")

    assert answer.status_code == 404
    assert stored(home, connection_id).permissions == ALL_PERMISSIONS


def test_the_owners_own_way_to_a_printer_has_no_permissions_to_take(home: Home) -> None:
    async def open_own() -> str:
        await home.world.services.connections.open_own(home.printer_id)
        found = await home.world.store.read(
            lambda records: records.connections.of_printer(home.printer_id)
        )
        return found[0].connection_id

    connection_id = run(home.browser, open_own)
    answer = send(home.browser, f"/connections/{connection_id}/permissions", choice="ticked")

    assert answer.status_code == 404
    assert stored(home, connection_id).permissions == ALL_PERMISSIONS


def test_a_share_by_password_begins_without_the_printers_own_web_page(home: Home) -> None:
    page = home.browser.get(f"/connections/share?printer={home.printer_id}").text

    assert re.findall(r'name="(\w+)" value="yes" checked', page) == ["control", "files", "camera"]
    assert f'href="/printers/{home.printer_id}/people"' in page


@pytest.mark.parametrize(
    ("language", "without", "ends"),
    [
        ("de", "ohne seine Webseite", "endet am "),
        ("es", "sin su página web", "termina el "),
        ("fr", "sans sa page web", "se termine le "),
        ("zh-Hans", "不含打印机网页", "结束于 "),
    ],
)
def test_the_line_of_a_share_is_in_the_readers_language_as_a_whole(
    home: Home, language: str, without: str, ends: str
) -> None:
    share(home, choice="ticked", control="yes", files="yes", camera="yes")

    page = home.browser.get("/connections", headers={"Accept-Language": language}).text

    assert without in page
    assert ends in page
