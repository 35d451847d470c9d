"""The methods that an address takes."""

import pytest
from litestar.routes import HTTPRoute

from tests.web.world import Browser, WebWorld


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/", "GET, HEAD, OPTIONS"), ("/signup", "GET, OPTIONS, POST"), ("/signout", "OPTIONS, POST")],
)
def test_options_is_answered_with_the_methods_of_the_address(
    browser: Browser, path: str, methods: str
) -> None:
    answer = browser.options(path)

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["allow"] == methods
    assert answer.headers["x-frame-options"] == "DENY"


def test_options_of_an_unknown_address_is_not_found(browser: Browser) -> None:
    assert browser.options("/nowhere").status_code == 404


@pytest.mark.parametrize("path", ["/signout", "/api/detector/v1/createcontext"])
def test_another_method_is_refused_with_those_of_the_address(browser: Browser, path: str) -> None:
    answer = browser.put(path)

    assert answer.status_code == 405
    assert "OPTIONS" in answer.headers["allow"].split(", ")


def test_no_address_has_a_handler_for_options_of_its_own(world: WebWorld) -> None:
    routes = [route for route in world.app.routes if isinstance(route, HTTPRoute)]

    taken = {
        method for route in routes for one in route.route_handlers for method in one.http_methods
    }
    assert len(routes) > 100
    assert "GET" in taken
    assert "OPTIONS" not in taken
