"""The pages that need nobody to be signed in, and those that stand in a printer's place."""

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from playwright.sync_api import Page, Route

from printreach.contract.errors import ErrorCode
from printreach.relay.pages import ERROR_PAGE_CSP, error_page
from printreach.web.pages import PAGES
from printreach.web.problems import answer_failure
from tests.look.gallery import HOST, application, forward
from tests.rigs.chromium import watch
from tests.rigs.looks import PHONE, look_at

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.look]

PLAIN = {
    "front": "/",
    "link": "/link",
    "link-wrong": "/link?code=K7QF",
    "link-code": "/link?code=K7QF4MXY",
    "no-such-page": "/no/such/page",
}


@pytest.fixture(scope="module")
def plain_app() -> Litestar:
    return application([PAGES], exception_handlers={Exception: answer_failure})


@pytest.mark.parametrize("name", PLAIN)
def test_a_page_of_ours_is_accessible_and_fits(page: Page, plain_app: Litestar, name: str) -> None:
    with TestClient(plain_app) as client:
        page.route(f"{HOST}/**", lambda route: forward(route, client))
        seen = watch(page)
        page.goto(HOST + PLAIN[name])

        look_at(page, name)

    expected = 404 if name == "no-such-page" else 400
    assert [error for error in seen.errors if f"status of {expected}" not in error] == []


@pytest.mark.parametrize("code", ErrorCode)
def test_a_page_in_a_printers_place_is_accessible_and_fits(page: Page, code: ErrorCode) -> None:
    def answer(route: Route) -> None:
        headers = {"content-security-policy": ERROR_PAGE_CSP.decode()}
        body = error_page(code, None, "Workbench" if code == 601 else None)
        route.fulfill(status=200, headers=headers, content_type="text/html", body=body)

    page.route("http://shared-ab.gallery.localhost/**", answer)
    page.goto("http://shared-ab.gallery.localhost/")

    # It asks again by itself every 30 seconds, and says so.
    look_at(page, f"error-{code:d}", sizes=[PHONE], besides={"meta-refresh"})
