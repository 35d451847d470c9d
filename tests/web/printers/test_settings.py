"""Settings of a printer, and the link to its own interface."""

import re
from dataclasses import replace

import pytest

from printreach import __version__
from printreach.contract.status import State
from tests.web.printers.conftest import BOB, Home, printing
from tests.web.world import BASE_URL, send, sign_in


def test_a_printer_gets_another_name(home: Home) -> None:
    answer = home.send("/settings", name="Attic")

    assert answer.headers["location"] == f"{home.path}/settings"
    assert "Attic" in home.browser.get("/printers").text


def test_a_name_that_is_none_is_told_at_its_field_and_kept(home: Home) -> None:
    answer = home.send("/settings", name="x" * 61)

    assert answer.status_code == 400
    assert "1 to 60 characters, none of them invisible" in answer.text
    assert "x" * 61 in answer.text
    assert "Workbench" in home.browser.get("/printers").text


def test_a_name_that_another_printer_has_is_told_at_its_field(home: Home) -> None:
    home.add_printer("Attic")

    answer = home.send("/settings", name="Attic")

    assert answer.status_code == 400
    assert "You have another printer called Attic. Choose another name." in answer.text
    assert re.search(r'<input[^>]*id="name"[^>]*aria-invalid="true"', answer.text)


@pytest.mark.parametrize(("version", "is_old"), [("0.0.9", True), (__version__, False)])
def test_an_agent_that_is_older_than_the_service_is_said_to_be(
    version: str, home: Home, *, is_old: bool
) -> None:
    printer_id = home.add_printer("Attic", agent_version=version)

    page = home.browser.get(f"/printers/{printer_id}/settings").text

    assert version in page
    assert ("Older than this service." in page) is is_old
    assert ("Install the newest agent" in page) is is_old


def test_removing_is_asked_about_first(home: Home) -> None:
    assert "Remove Workbench?" in home.get("/remove").text
    assert home.get().status_code == 200


ISNT = "isn\N{RIGHT SINGLE QUOTATION MARK}t"


def test_a_page_of_a_removed_printer_says_so_and_leads_to_the_others(home: Home) -> None:
    home.send("/remove")

    page = home.get()

    assert page.status_code == 404
    assert f"This printer {ISNT} in your account" in page.text
    assert "It may have been removed, or the address is wrong." in page.text
    assert 'href="/printers"' in page.text
    assert "typing mistake" not in page.text


def test_an_open_page_of_a_removed_printer_reloads_instead_of_reconnecting(home: Home) -> None:
    home.send("/remove")

    stream = home.browser.get(f"{home.path}/events", headers={"accept": "text/event-stream"})

    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.text == "event: reload\ndata: {}\n\n"


def test_a_removed_printer_is_gone(home: Home) -> None:
    assert home.send("/remove").headers["location"] == "/printers"
    assert home.get().status_code == 404


def test_its_own_interface_opens_by_a_link_on_a_host_of_its_own(home: Home) -> None:
    answer = home.send("/open")
    links = set(re.findall(r"https://own-[a-z2-7]+\.tunnel\.example/[^\"]+", answer.text))

    assert len(links) == 1
    assert links.pop().partition("?")[0].endswith("/service-command-api/open")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"


def test_each_link_is_another(home: Home) -> None:
    def ticket() -> str:
        found = re.search(r"ticket=([a-z2-7]+)", home.send("/open").text)
        assert found is not None
        return found[1]

    assert ticket() != ticket()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/settings"),
        ("POST", "/settings"),
        ("GET", "/remove"),
        ("POST", "/remove"),
        ("POST", "/open"),
    ],
)
def test_another_accounts_printer_is_as_one_that_does_not_exist(
    home: Home, bobs_printer: str, method: str, path: str
) -> None:
    def ask(printer_id: str) -> tuple[int, str]:
        answer = home.browser.request(
            method, f"/printers/{printer_id}{path}", headers={"origin": BASE_URL}
        )
        return answer.status_code, answer.text

    assert ask(bobs_printer) == ask("a" * 32)
    assert ask(bobs_printer)[0] == 404


def test_opening_leads_back_to_the_path_that_the_browser_came_from(home: Home) -> None:
    page = home.browser.get(home.path + "/open", params={"at": "/files/a%20b"}).text
    assert 'name="at" value="/files/a%20b"' in page

    assert "&amp;at=/files/a%2520b" in home.send("/open", at="/files/a%20b").text
    assert "at=" not in home.send("/open", at="//evil.example/").text


@pytest.mark.parametrize("path", ["/settings", "/remove", "/open"])
def test_a_form_of_a_printers_page_changes_nothing(home: Home, path: str) -> None:
    origin = {"origin": "https://own-abc.tunnel.example"}
    assert home.browser.post(home.path + path, headers=origin).status_code == 403
    assert "Workbench" in home.get().text


def test_a_page_of_the_dashboard_opens_the_printer_for_who_comes_from_its_address(
    home: Home,
) -> None:
    page = home.browser.get(home.path + "/open")

    assert page.status_code == 200
    assert f'method="post" action="{home.path}/open"' in page.text
    assert "service-command-api/open" not in page.text


def test_a_signed_out_person_returns_to_that_page(home: Home) -> None:
    home.browser.cookies.clear()

    asked = home.browser.get(home.path + "/open", follow_redirects=False)

    assert asked.headers["location"] == f"/signin?next={home.path}/open"


def with_ports(home: Home, ports: range) -> None:
    """The same installation, where connections have ports."""
    services = home.world.services
    links = replace(services.connections, ports=ports)
    object.__setattr__(services, "connections", links)


def test_a_port_leads_its_owner_to_the_printer_and_others_to_their_list(
    home: Home, bobs_printer: str
) -> None:
    with_ports(home, range(18000, 18001))
    assert ":18000/service-command-api/open?ticket=" in home.send("/open").text

    for port, path in ((18000, f"{home.path}/open"), (18001, "/printers")):
        led = home.browser.get(f"/printers/open?port={port}", follow_redirects=False)
        assert led.headers["location"] == path
    assert bobs_printer not in home.path
    sign_in(home.browser, BOB)
    led = home.browser.get("/printers/open?port=18000", follow_redirects=False)
    assert led.headers["location"] == "/printers"


def test_where_no_port_is_left_a_person_is_told_and_led_to_what_can_end(home: Home) -> None:
    with_ports(home, range(18000, 18001))
    other = home.add_printer("Other")
    send(home.browser, f"/printers/{other}/open")

    answer = home.send("/open")

    assert answer.status_code == 409
    assert "ports for connections are in use" in answer.text
    assert 'href="/connections"' in answer.text


def test_removing_a_printer_that_prints_says_what_becomes_of_the_print(home: Home) -> None:
    page = home.get("/remove").text

    assert "is printing vase.gcode" in page
    assert "Removing the printer does not stop the print" in page
    assert f'href="{home.path}/stop"' in page


def test_removing_a_printer_that_prints_nothing_says_nothing_of_a_print(home: Home) -> None:
    home.says(printing(state=State.IDLE))

    assert "does not stop the print" not in home.get("/remove").text
