"""Every page answers HEAD."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final, cast

import pytest
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import HTTPReceiveMessage, Message, Receive, Scope, Send
from litestar.utils.sync import AsyncCallable

from printreach.hub.once import ShownOnce
from printreach.store.store import Records
from printreach.web.safe_methods import HeadAsGet
from tests.web.printers.conftest import Home
from tests.web.printers.conftest import home as home
from tests.web.world import ADA, Browser, WebWorld, send, sign_in

USED_UP_BY_GET: Final = frozenset(
    {
        "/account/recovery-codes/new",
        "/operator/invite/link",
        "/signin/other/back",
        "/signup/sent",
        "/stop-everything/outcome",
    }
)
"""Pages without parameters that only a GET is answered with."""


def pages_of(world: WebWorld) -> list[str]:
    """The addresses of all routes for reading that have no parts to fill in."""
    return sorted(
        route.path
        for route in world.app.routes
        if isinstance(route, HTTPRoute) and "GET" in route.methods and not route.path_parameters
    )


def every_address(home: Home) -> list[str]:
    """An address of each route for reading, with that printer in it."""
    return sorted(
        re.sub(r"\{\w+\}", "1", route.path_format.replace("{printer_id}", home.printer_id))
        for route in home.world.app.routes
        if isinstance(route, HTTPRoute) and "GET" in route.methods
    )


@pytest.mark.slow
def test_every_page_answers_head_as_it_answers_get(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser, is_admin=True)
    sign_in(browser)
    paths = pages_of(world)
    assert {"/signin", "/account", "/printers", "/reset"} <= set(paths)

    for path in paths:
        asked = browser.head(path, follow_redirects=False)
        assert asked.content == b"", path
        if path in USED_UP_BY_GET:
            assert (asked.status_code, asked.headers["allow"]) == (405, "GET"), path
            continue
        assert "content-security-policy" in asked.headers, path
        if "event-stream" in asked.headers.get("content-type", ""):
            continue
        read = browser.get(path, follow_redirects=False)
        assert (path, asked.status_code) == (path, read.status_code)
        assert asked.headers.get("content-type") == read.headers.get("content-type"), path


@pytest.mark.slow
def test_head_changes_nothing_at_any_address(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes nothing that a page shows once, and writes nothing."""
    world, browser = home.world, home.browser
    world.add_account(browser, "also-an-operator@example.org", is_admin=True)
    changed: list[str] = []
    path = ""

    async def take(_self: object, _account_id: str, _what: str) -> None:
        changed.append(f"{path} takes what is shown once")

    write = world.store.write

    def note_write(work: Callable[[Records], Awaitable[object]]) -> Awaitable[object]:
        changed.append(f"{path} writes: {work}")
        return write(work)

    monkeypatch.setattr(ShownOnce, "take", take)
    monkeypatch.setattr(world.store, "write", note_write)
    query = "token=a&code=a&state=a&back=paid&next=/link"
    for email in (ADA, "also-an-operator@example.org"):
        sign_in(browser, email)
        browser.get("/account")
        changed.clear()
        for path in every_address(home):
            browser.head(path, follow_redirects=False)
            browser.head(f"{path}?{query}", follow_redirects=False)

        assert changed == []


def test_the_outcome_of_stopping_everything_is_there_after_a_head(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    sign_in(browser)
    where = send(browser, "/stop-everything").headers["location"]

    asked = browser.head(where, follow_redirects=False)

    assert asked.status_code == 405
    assert browser.get(where, follow_redirects=False).status_code == 200


def test_no_request_waits_for_a_thread_before_its_handler(world: WebWorld) -> None:
    """Litestar calls a guard that is no coroutine function in a thread, at every request."""
    routes = [route for route in world.app.routes if isinstance(route, HTTPRoute)]
    handlers = [one for route in routes for one in route.route_handlers]
    guards = [guard for handler in handlers for guard in handler.resolve_guards()]

    assert guards
    assert not [guard for guard in guards if isinstance(guard, AsyncCallable)]


def test_head_changes_nothing_where_only_forms_are_taken(browser: Browser) -> None:
    assert browser.head("/signout").status_code == 405


async def nobody_has_to_be_asked() -> HTTPReceiveMessage:
    raise AssertionError("the answer is in the head of the request alone")


def test_what_never_ends_hears_that_its_reader_has_left() -> None:
    heard: list[str] = []

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data", "more_body": True})
        assert scope["type"] == ScopeType.HTTP
        heard.extend([scope["method"], (await receive())["type"]])

    async def main() -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        scope = cast("Scope", {"type": "http", "method": "HEAD"})
        await asyncio.wait_for(HeadAsGet(endless)(scope, nobody_has_to_be_asked, send), 30)
        return sent

    sent = asyncio.run(main())
    assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]
    assert heard == ["GET", "http.disconnect"]
