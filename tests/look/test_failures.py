"""Pages of failure: ours, and those that stand in a printer's place."""

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Page, Route

from printreach.contract.errors import ErrorCode
from printreach.relay.pages import ERROR_PAGE_CSP, confirmation_page, error_page
from printreach.web.problems import answer_failure
from tests.look.gallery import HOST, application, forward, stay
from tests.rigs.looks import PHONE, look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ADDRESS = "http://shared-ab.gallery.localhost/"


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
        body = error_page(code, None, name, printers_page=f"{HOST}/printers")
        route.fulfill(status=200, headers=headers, content_type="text/html", body=body)

    page.route(ADDRESS, answer)
    page.goto(ADDRESS)

    look_at(page, f"error-{code:d}", sizes=[PHONE], besides={"meta-refresh"})


def test_a_page_that_asks_whether_another_sites_link_is_meant_is_accessible_and_fits(
    page: Page,
) -> None:
    body = confirmation_page(b"/rr_gcode?gcode=M112&" + b"x" * 300, f"{HOST}/printers")
    headers = {"content-security-policy": ERROR_PAGE_CSP.decode()}
    page.route(
        ADDRESS,
        lambda route: route.fulfill(
            status=200, headers=headers, content_type="text/html", body=body
        ),
    )
    page.goto(ADDRESS)

    look_at(page, "link-of-another-site", sizes=[PHONE])
