"""An operator may delete their own account only while there is another operator."""

import logging

import pytest

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


def test_the_page_says_before_that_the_service_loses_its_last_operator(office: Office) -> None:
    with_others = office.browser.get("/account/delete").text
    send(office.browser, ada_path(office, "/delete"), password=PASSWORD)
    alone = office.browser.get("/account/delete").text

    assert "Make somebody else an operator first" in with_others
    assert "Afterwards nobody operates this service" in alone


def test_one_operator_of_two_is_told_nothing_of_it(office: Office) -> None:
    send(office.browser, ada_path(office, "/operator"), password=PASSWORD, state="on")

    assert "operates this service" not in office.browser.get("/account/delete").text


def test_after_the_last_account_the_log_has_the_link_for_the_next(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    send(office.browser, ada_path(office, "/delete"), password=PASSWORD)
    caplog.set_level(logging.INFO)

    send(office.browser, "/account/delete", **DELETE)

    (line,) = [one.getMessage() for one in caplog.records if "no operator yet" in one.getMessage()]
    link = line.rpartition(" ")[2]
    assert "Set up Printreach" in office.browser.get(link).text


def test_everybody_else_goes_as_before(office: Office, other: Browser) -> None:
    sign_in(other, ADA)

    assert send(other, "/account/delete", **DELETE).status_code == 303
    assert office.account(ADA) is None
