"""An operator may delete their own account only while there is another operator."""

from tests.web.operators.conftest import GRACE, Office
from tests.web.operators.test_acts import ada_path
from tests.web.world import ADA, PASSWORD, Browser, send, sign_in

DELETE = {"delete-password": PASSWORD}


def test_the_only_operator_is_told_to_make_another_first(office: Office) -> None:
    answer = send(office.browser, "/account/delete", **DELETE)

    assert answer.status_code == 400
    assert "Nobody else operates this service." in answer.text
    assert office.account(GRACE) is not None


def test_with_another_operator_they_go(office: Office) -> None:
    send(office.browser, ada_path(office, "/operator"), password=PASSWORD, state="on")

    assert send(office.browser, "/account/delete", **DELETE).status_code == 303
    assert office.account(GRACE) is None


def test_an_operator_who_is_the_only_account_can_leave_too(office: Office) -> None:
    send(office.browser, ada_path(office, "/delete"), password=PASSWORD)

    assert send(office.browser, "/account/delete", **DELETE).status_code == 303


def test_everybody_else_goes_as_before(office: Office, other: Browser) -> None:
    sign_in(other, ADA)

    assert send(other, "/account/delete", **DELETE).status_code == 303
    assert office.account(ADA) is None
