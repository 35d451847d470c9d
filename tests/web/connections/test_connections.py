"""Connections: apps, sharing, and ending both."""

import re
import secrets

import pytest

from printreach.hub.apps import Apps
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers.members import Role
from printreach.store.relay.grants import SqlGrants
from tests.fakes.grants import INTERNAL_KEY
from tests.web.printers.conftest import Home
from tests.web.printers.members import EVE, let_in
from tests.web.world import BASE_URL, run, send


def connect_app(home: Home, printer_id: str = "") -> str:
    """An App Connection to that printer; its id."""
    services = home.world.services

    async def connect() -> str:
        apps = Apps(core=home.world.core)
        await apps.add("demo", "Demo <b>", ["https://demo.example/"])
        made = await services.connections.add_for_app("demo", printer_id or home.printer_id)
        assert isinstance(made, Completion)
        return made.connection_id

    return run(home.browser, connect)


def share(home: Home, ends: str = "24", name: str = "") -> str:
    """Share the printer; the address that shows what opens it."""
    answer = send(home.browser, "/connections/share", printer=home.printer_id, ends=ends, name=name)
    assert answer.status_code == 303
    return str(answer.headers["location"])


def test_people_with_access_are_listed_with_what_is_shared(home: Home) -> None:
    assert "sharing a printer." in home.browser.get("/connections").text
    person = let_in(home, EVE, Role.WATCH)

    page = home.browser.get("/connections").text

    assert "sharing a printer." not in page
    assert "<p>Workbench · Can watch</p>" in page
    assert f'href="{home.path}/people"' in page
    assert f'href="{home.path}/people/{person.account_id}/end"' in page


def test_an_app_is_listed_and_ended(home: Home) -> None:
    connection_id = connect_app(home)
    page = home.browser.get("/connections").text
    assert "Demo &lt;b&gt;" in page
    assert "Workbench" in page
    question = home.browser.get(f"/connections/{connection_id}/end").text
    assert "End the connection of Demo &lt;b&gt;?" in question
    assert "Demo" in home.browser.get("/connections").text

    ended = send(home.browser, f"/connections/{connection_id}/end")
    assert ended.headers["location"] == "/connections"
    assert "Demo" not in home.browser.get("/connections").text


def test_a_connection_tells_when_it_was_last_used(home: Home) -> None:
    connection_id = connect_app(home)
    assert "not used yet" in home.browser.get("/connections").text

    async def use() -> None:
        store, clock = home.world.store, home.world.clock
        grants = SqlGrants(
            store, clock, secrets.token_bytes, SupporterPolicy.EVERYONE, INTERNAL_KEY
        )
        connection = await store.read(lambda records: records.connections.get(connection_id))
        assert connection is not None
        await grants.connections_used({connection.unique_id: clock.now()})

    run(home.browser, use)
    assert re.search(
        "last used <time[^>]*>1 May 2026, 12:00 UTC", home.browser.get("/connections").text
    )


def test_what_opens_a_shared_printer_is_shown_once(home: Home) -> None:
    address = share(home)
    first, again = home.browser.get(address), home.browser.get(address)

    assert re.search(r"https://shared-[a-z2-7]+\.tunnel\.example", first.text)
    assert first.headers["cache-control"] == "no-store"
    assert "Already shown" in again.text
    assert "https://shared-" not in again.text
    assert "https://shared-" not in home.browser.get("/connections").text


def test_a_shared_connection_is_listed_with_its_end(home: Home) -> None:
    share(home, "1")

    assert "1 May 2026, 13:00 UTC" in home.browser.get("/connections").text


@pytest.mark.parametrize(
    ("printer", "ends"), [("", "24"), ("a" * 32, "24"), (None, ""), (None, "9999999")]
)
def test_what_makes_no_sense_shares_nothing(home: Home, printer: str | None, ends: str) -> None:
    chosen = home.printer_id if printer is None else printer
    answer = send(home.browser, "/connections/share", printer=chosen, ends=ends)

    assert answer.status_code == 400
    assert "t sharing a printer" in home.browser.get("/connections").text


def test_another_accounts_printer_is_not_shared(home: Home, bobs_printer: str) -> None:
    theirs = send(home.browser, "/connections/share", printer=bobs_printer, ends="24")
    unknown = send(home.browser, "/connections/share", printer="a" * 32, ends="24")

    assert theirs.status_code == unknown.status_code == 400
    assert theirs.text == unknown.text


@pytest.mark.parametrize(("method", "page"), [("GET", "end"), ("POST", "end"), ("GET", "secrets")])
def test_another_accounts_connection_is_as_one_that_does_not_exist(
    home: Home, bobs_printer: str, method: str, page: str
) -> None:
    theirs = connect_app(home, bobs_printer)

    def ask(connection_id: str) -> tuple[int, str]:
        answer = home.browser.request(
            method, f"/connections/{connection_id}/{page}", headers={"origin": BASE_URL}
        )
        return answer.status_code, answer.text

    assert ask(theirs) == ask("unknown")
    assert ask(theirs)[0] == 404
    assert "Demo" not in home.browser.get("/connections").text


@pytest.mark.parametrize("origin", ["null", "https://own-abc.tunnel.example"])
def test_a_form_of_another_page_neither_shares_nor_ends(home: Home, origin: str) -> None:
    connection_id = connect_app(home)
    for path in ("/connections/share", f"/connections/{connection_id}/end"):
        fields = {"printer": home.printer_id, "ends": "24"}
        answer = home.browser.post(path, data=fields, headers={"origin": origin})
        assert answer.status_code == 403

    page = home.browser.get("/connections").text
    assert "Demo" in page
    assert "t sharing a printer" in page


def test_a_share_comes_as_a_link_a_picture_and_a_password(home: Home) -> None:
    page = home.browser.get(share(home)).text

    link = re.search(
        r"(https://shared-[a-z2-7]+\.tunnel\.example)/service-command-api/open"
        r"\?service_api_key=([a-z2-7]+)<",
        page,
    )
    assert link is not None
    assert f">{link[1]}</dd>" in page
    assert f">{link[2]}</dd>" in page
    assert '<svg class="qr"' in page or 'class="qr"' in page
    for label in ("Link", "Address", "User name", "Password"):
        assert f"<dt>{label}</dt>" in page


def test_a_share_is_listed_by_whom_it_is_for(home: Home) -> None:
    address = share(home, name="Sam <b>")

    assert "with Sam &lt;b&gt;" in home.browser.get(address).text
    page = home.browser.get("/connections").text
    assert "Sam &lt;b&gt;" in page
    assert "Workbench, since" in page
    end = address.replace("/secrets", "/end")
    assert "with Sam &lt;b&gt;" in home.browser.get(end).text


def test_a_name_that_is_too_long_shares_nothing(home: Home) -> None:
    answer = send(
        home.browser, "/connections/share", printer=home.printer_id, ends="24", name="x" * 61
    )

    assert answer.status_code == 400
    assert 'id="name-fault"' in answer.text


def test_the_printers_page_and_its_settings_lead_to_sharing_it(home: Home) -> None:
    href = f'href="/connections/share?printer={home.printer_id}"'

    assert f'href="{home.path}/people"' in home.browser.get(home.path).text
    assert href in home.browser.get(home.path + "/people").text
    assert href in home.browser.get(home.path + "/settings").text
