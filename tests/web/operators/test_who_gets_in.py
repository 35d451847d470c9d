"""Pages for operators are only theirs, and dangerous acts need the password again."""

from datetime import timedelta

import pytest

from tests.web.operators.conftest import GRACE, Office
from tests.web.portal.people import APP
from tests.web.world import ADA, PASSWORD, Browser, send, sign_in

READS = [
    *("", "/accounts", "/accounts/{ada}", "/accounts/{ada}/delete", "/invite", "/apps"),
    *("/register", "/apps/{app}", "/apps/{app}/remove", "/printers", "/printers/{printer}/remove"),
    *("/connections", "/connections/{connection}/end", "/limits", "/acts"),
    *("/accounts/{ada}/block", "/keys"),
]
DANGEROUS = [
    *("/accounts/{ada}/operator", "/accounts/{ada}/delete", "/invite", "/register"),
    *("/apps/{app}", "/apps/{app}/remove", "/printers/{printer}/remove"),
    *("/accounts/{ada}/supporter", "/accounts/{ada}/limits", "/limits", "/accounts/{ada}/block"),
    *("/connections/{connection}/end", "/accounts/{ada}/customer"),
]

LONG = timedelta(hours=1)
"""Until somebody who guessed may try again."""
PROOFS = ("password", "supporter-password", "limits-password", "customer-password")


def path_of(office: Office, template: str) -> str:
    return "/operator" + template.format(
        ada=office.ada.account_id,
        app=APP,
        printer=office.printer_id,
        connection=office.connection.connection_id,
    )


def test_an_operator_sees_each_page(office: Office) -> None:
    answers = {one: office.browser.get(path_of(office, one)).status_code for one in READS}

    assert answers == dict.fromkeys(READS, 200)


def test_to_everybody_else_there_is_no_such_page(office: Office, other: Browser) -> None:
    sign_in(other, ADA)

    for template in READS:
        answer = other.get(path_of(office, template))
        assert answer.status_code == 404, template
        assert "perat" not in answer.text


def test_nobody_else_does_anything_there(office: Office, other: Browser) -> None:
    sign_in(other, ADA)
    fields = {**dict.fromkeys(PROOFS, PASSWORD), "state": "on", "upload_bytes": "1"}

    for template in DANGEROUS:
        assert send(other, path_of(office, template), **fields).status_code == 404, template
    assert_untouched(office)


@pytest.mark.parametrize("template", ["", "/accounts"])
def test_strangers_are_asked_to_sign_in(office: Office, other: Browser, template: str) -> None:
    answer = other.get(path_of(office, template), follow_redirects=False)

    assert answer.headers["location"].startswith("/signin")


def test_a_form_of_another_site_does_nothing(office: Office) -> None:
    for template in DANGEROUS:
        answer = office.browser.post(
            path_of(office, template),
            data={**dict.fromkeys(PROOFS, PASSWORD), "state": "on"},
            headers={"origin": "https://app-x.tunnel.example"},
        )
        assert answer.status_code == 403, template
    assert_untouched(office)


@pytest.mark.parametrize("password", ["", "not the password at all"])
def test_what_is_dangerous_needs_the_password_again(office: Office, password: str) -> None:
    for template in DANGEROUS:
        fields = {**dict.fromkeys(PROOFS, password), "state": "on"}
        answer = send(office.browser, path_of(office, template), **fields)
        assert answer.status_code == 400, template
        assert "That is not your password." in answer.text
        office.world.clock.advance(LONG)
    assert_untouched(office)


def test_guessing_the_password_there_has_to_wait(office: Office) -> None:
    path = path_of(office, "/accounts/{ada}/delete")
    for _ in range(10):
        send(office.browser, path, password="guessed")

    answer = send(office.browser, path, password=PASSWORD)

    assert answer.status_code == 429
    assert office.account() is not None


def test_a_former_operator_is_out_at_once(office: Office, other: Browser) -> None:
    send(office.browser, path_of(office, "/accounts/{ada}/operator"), password=PASSWORD, state="on")
    sign_in(other, ADA)
    grace = office.account(GRACE)
    assert grace is not None
    send(other, f"/operator/accounts/{grace.account_id}/operator", password=PASSWORD, state="off")

    assert office.browser.get("/operator").status_code == 404


def test_the_way_to_these_pages_is_shown_to_operators_alone(office: Office, other: Browser) -> None:
    sign_in(other, ADA)

    assert 'href="/operator"' in office.browser.get("/account").text
    assert "/operator" not in other.get("/account").text


def assert_untouched(office: Office) -> None:
    """Nothing was done but what made this office."""
    ada = office.account()
    assert ada is not None
    assert not ada.is_admin
    assert not ada.supporter_granted
    assert not ada.is_blocked
    assert "Nothing yet." in office.browser.get("/operator/acts").text
