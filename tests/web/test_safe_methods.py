"""Every page can be asked about without being fetched."""

import asyncio
from typing import cast

from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import HTTPReceiveMessage, Message, Receive, Scope, Send

from printreach.web.safe_methods import HeadAsGet
from tests.web.world import Browser, WebWorld, sign_in


def pages_of(world: WebWorld) -> list[str]:
    """The addresses of all routes for reading that have no parts to fill in."""
    return sorted(
        route.path
        for route in world.app.routes
        if isinstance(route, HTTPRoute) and "GET" in route.methods and not route.path_parameters
    )


def test_every_page_answers_head_as_it_answers_get(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser, is_admin=True)
    sign_in(browser)
    paths = pages_of(world)
    assert {"/signin", "/account", "/printers", "/reset"} <= set(paths)

    for path in paths:
        asked = browser.head(path, follow_redirects=False)
        assert asked.content == b"", path
        assert "content-security-policy" in asked.headers, path
        if "event-stream" in asked.headers.get("content-type", ""):
            continue
        read = browser.get(path, follow_redirects=False)
        assert (path, asked.status_code) == (path, read.status_code)
        assert asked.headers.get("content-type") == read.headers.get("content-type"), path


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
