"""Pages of failures: ours, and those shown in place of a printer."""

from dataclasses import replace

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Page, Route

from printreach.contract.errors import ErrorCode
from printreach.relay.page_words import Reader
from printreach.relay.pages import (
    ERROR_PAGE_CSP,
    SIGN_IN_PAGE_CSP,
    confirmation_page,
    error_page,
    sign_in_page,
)
from printreach.rules.connections import ConnectionKind
from printreach.web.problems import answer_failure
from tests.look.gallery import HOST, application, forward, stay
from tests.rigs.looks import PHONE, look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ADDRESS = "http://shared-ab.gallery.localhost/"
READER = Reader(printers_page=f"{HOST}/printers", unlock_page=f"{HOST}/remote-lock")
OF_OWNER = replace(READER, kind=ConnectionKind.OWN, way_back=f"{HOST}/printers/ab/open")
PLACES = {
    "own-signed-out": (ErrorCode.BAD_CREDENTIALS, OF_OWNER),
    "own-ended": (ErrorCode.CONNECTION_ENDED, OF_OWNER),
    "shared-ended": (
        ErrorCode.CONNECTION_ENDED,
        replace(READER, kind=ConnectionKind.SHARED),
    ),
    "address-of-an-app": (ErrorCode.BAD_CREDENTIALS, replace(READER, kind=ConnectionKind.APP)),
}


def test_a_page_for_an_address_that_leads_nowhere_is_accessible_and_fits(page: Page) -> None:
    lost = application([], exception_handlers={Exception: answer_failure})
    with TestClient(lost) as client:
        page.route(f"{HOST}/**", lambda route: forward(route, client))
        page.goto(f"{HOST}/no/such/page")

        look_at(page, "no-such-page")


@pytest.mark.parametrize("code", ErrorCode)
def test_a_page_in_a_printers_place_is_accessible_and_fits(page: Page, code: ErrorCode) -> None:
    def answer(route: Route) -> None:
        page.route(ADDRESS, stay)  # it asks again by itself every 30 seconds, and says so
        headers = {"content-security-policy": ERROR_PAGE_CSP.decode()}
        name = "Workbench" if code == 601 else None
        body = error_page(code, None, name, reader=READER)
        route.fulfill(status=200, headers=headers, content_type="text/html", body=body)

    page.route(ADDRESS, answer)
    page.goto(ADDRESS)

    look_at(page, f"error-{code:d}", sizes=[PHONE], besides={"meta-refresh"})


@pytest.mark.parametrize("place", PLACES)
def test_a_page_for_a_person_at_a_printers_address_is_accessible_and_fits(
    page: Page, place: str
) -> None:
    code, reader = PLACES[place]
    serve(page, error_page(code, None, reader=reader), ERROR_PAGE_CSP)

    look_at(page, place)


@pytest.mark.parametrize("error", ["", "The user name or password is wrong."])
def test_the_page_that_asks_a_guest_for_a_password_is_accessible_and_fits(
    page: Page, error: str
) -> None:
    serve(page, sign_in_page("/service-command-api/open", error), SIGN_IN_PAGE_CSP)

    look_at(page, "shared-sign-in-again" if error else "shared-sign-in")


def serve(page: Page, body: bytes, policy: bytes) -> None:
    """Open that page at a printer's address."""
    headers = {"content-security-policy": policy.decode()}
    page.route(
        ADDRESS,
        lambda route: route.fulfill(
            status=200, headers=headers, content_type="text/html", body=body
        ),
    )
    page.goto(ADDRESS)


def test_a_page_that_asks_whether_another_sites_link_is_meant_is_accessible_and_fits(
    page: Page,
) -> None:
    body = confirmation_page(b"/rr_gcode?gcode=M112&" + b"x" * 300, READER)
    serve(page, body, ERROR_PAGE_CSP)

    look_at(page, "link-of-another-site", sizes=[PHONE])
