"""Settings of a printer, and the way to its own interface."""

import re

import pytest

from tests.web.dashboard.conftest import Home
from tests.web.world import BASE_URL


def test_a_printer_gets_another_name(home: Home) -> None:
    answer = home.send("/settings", name="Attic")

    assert answer.headers["location"] == f"{home.path}/settings?said=name"
    assert "Attic" in home.browser.get("/printers").text


def test_a_name_that_is_none_is_told_at_its_field_and_kept(home: Home) -> None:
    answer = home.send("/settings", name="x" * 61)

    assert answer.status_code == 400
    assert "1 to 60 printable characters" in answer.text
    assert "x" * 61 in answer.text
    assert "Workbench" in home.browser.get("/printers").text


def test_removing_is_asked_about_first(home: Home) -> None:
    assert "Remove Workbench?" in home.get("/remove").text
    assert home.get().status_code == 200


def test_a_removed_printer_is_gone(home: Home) -> None:
    assert home.send("/remove").headers["location"] == "/printers?said=removed"
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


@pytest.mark.parametrize("path", ["/settings", "/remove", "/open"])
def test_a_form_of_a_printers_page_changes_nothing(home: Home, path: str) -> None:
    origin = {"origin": "https://own-abc.tunnel.example"}
    assert home.browser.post(home.path + path, headers=origin).status_code == 403
    assert "Workbench" in home.get().text
