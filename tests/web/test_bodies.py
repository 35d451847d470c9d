"""Bodies that strangers send to the service's own pages: how much is read, and when."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest
from litestar.exceptions import WebSocketDisconnect
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import Scope

from printreach.web import requests
from printreach.web.forms import MAX_FIELDS
from printreach.web.requests import BodyLimiter, BoundedRequest
from printreach.web.safe_methods import LONGEST_PATH, LONGEST_QUERY, MAX_COOKIE_BYTES
from tests.web.sent import Sent
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, sign_in

READ_FROM_STRANGERS: Final = frozenset(
    {
        "/confirm",
        "/reset",
        "/reset/new",
        "/signin",
        "/signin/code",
        "/signin/other",
        "/signin/passkey",
        "/signup",
        # An app's token may stand in the body.
        "/api/appconnection/DeleteNotificationWebhook",
        "/api/appconnection/SetNotificationWebhook",
        "/api/detector/GetStatusFromAppConnection",
        "/api/gadget/GetStatusFromAppConnection",
        "/api/live/createfromappconnection",
        # A button of a notification sends a token, in 1 KiB at most.
        "/notifications/act",
    }
)
"""Every other route answers a stranger before it reads the body."""

READ_PIECE_BY_PIECE: Final = frozenset(
    {"/printers/{printer_id:str}/files", "/api/detector/v1/process/{context_id:str}"}
)
"""Uploads and pictures, of callers who are known; their routes bound what they keep."""


def writing_routes(world: WebWorld) -> Iterator[tuple[str, str, HTTPRouteHandler]]:
    """Path, method and handler of everything that may take a body."""
    for route in world.app.routes:
        if isinstance(route, HTTPRoute):
            for handler in route.route_handlers:
                for method in sorted(handler.http_methods - {"GET", "HEAD", "OPTIONS"}):
                    yield route.path, method, handler


def filled(path: str) -> str:
    """A path with something in place of its parameters."""
    parts = path.split("/")
    return "/".join(part if part[:1] != "{" else "1" if ":int" in part else "x" for part in parts)


def test_every_route_has_a_largest_body(world: WebWorld) -> None:
    unbounded = set()
    for path, _, handler in writing_routes(world):
        assert issubclass(handler.resolve_request_class(), BoundedRequest), path
        most = handler.resolve_request_max_body_size()
        if most is None:
            unbounded.add(path)
        else:
            assert most <= 256 * 1024, path

    assert unbounded == READ_PIECE_BY_PIECE


def test_the_body_of_a_stranger_is_read_by_no_route_that_is_not_for_strangers(
    world: WebWorld, browser: Browser
) -> None:
    read = set()
    for path, method, _ in writing_routes(world):
        sent = Sent(method, filled(path)).to(world, browser)
        assert sent.status, path
        if sent.reads:
            read.add(path)

    assert read == READ_FROM_STRANGERS


def test_the_body_of_a_form_from_another_page_is_not_read(
    world: WebWorld, browser: Browser
) -> None:
    for path, method, handler in writing_routes(world):
        if handler.opt.get("form"):
            sent = Sent(method, filled(path), origin="https://elsewhere.example")
            sent.to(world, browser)
            assert (sent.status, sent.reads) == (403, 0), path


def test_the_limit_of_a_network_is_counted_before_a_form_is_read(
    world: WebWorld, browser: Browser
) -> None:
    first = [Sent("POST", "/signin/code").to(world, browser) for _ in range(120)]
    late = Sent("POST", "/signin/code").to(world, browser)

    assert {sent.status for sent in first} == {400}
    assert (late.status, late.reads) == (429, 0)


def test_a_signed_in_person_sends_forms_though_strangers_in_the_network_sent_too_many(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    sign_in(browser)
    for _ in range(120):
        Sent("POST", "/signin/code").to(world, browser)

    assert send(browser, "/account/name", name="Ada").status_code != 429


def test_a_form_of_ten_megabytes_is_refused_unread(world: WebWorld, browser: Browser) -> None:
    sent = Sent("POST", "/signin", content_length="9900000").to(world, browser)

    assert (sent.status, sent.reads) == (413, 0)


def test_a_form_that_says_nothing_of_its_length_is_read_up_to_the_limit(
    world: WebWorld, browser: Browser
) -> None:
    sent = Sent("POST", "/signin", [b"1&" * 8192] * 100).to(world, browser)

    assert (sent.status, sent.reads) == (413, 5)


def test_a_form_has_a_largest_number_of_fields(world: WebWorld, browser: Browser) -> None:
    many = "&".join(f"{number}=1" for number in range(MAX_FIELDS + 1)).encode()
    sent = Sent("POST", "/signin", [many]).to(world, browser)

    assert sent.status == 400
    assert b"100 fields" in sent.text


def test_only_forms_are_read_as_forms(world: WebWorld, browser: Browser) -> None:
    kinds = ["multipart/form-data; boundary=b", "application/json", "text/plain", ""]
    statuses = [
        Sent("POST", "/signin", content_type=kind).to(world, browser).status for kind in kinds
    ]

    assert statuses == [415] * 4


def test_a_field_is_read_in_every_language(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)

    assert send(browser, "/signin", email=ADA, password=PASSWORD, next="/").status_code == 303
    answer = send(browser, "/signin", email="žofie@example.org", password="wrong")
    assert "žofie@example.org" in answer.text


def test_a_body_that_stops_coming_is_given_up(
    world: WebWorld, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter: BodyLimiter = world.app.state.body_limiters.of_strangers
    monkeypatch.setattr(limiter, "timeout_s", 0.05)
    sent = Sent("POST", "/signin", [b"email=a"], is_whole=False).to(world, browser)

    assert sent.status == 408
    assert requests.BODY_TIMEOUT_S == 30


def test_strangers_share_the_memory_for_their_bodies(
    world: WebWorld, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter: BodyLimiter = world.app.state.body_limiters.of_strangers
    monkeypatch.setattr(limiter, "max_bytes", 150)
    slow = Sent("POST", "/signin", [b"a" * 100], is_whole=False)
    quick = Sent("POST", "/signin", [b"b" * 100])

    async def both() -> None:
        waiting = asyncio.create_task(world.app(cast("Scope", slow.scope), slow.receive, slow.send))
        await slow.is_waiting.wait()
        await world.app(cast("Scope", quick.scope), quick.receive, quick.send)
        await waiting

    run(browser, both)
    assert (slow.status, quick.status) == (503, 400)


def test_a_full_room_of_strangers_leaves_room_for_who_is_signed_in(
    world: WebWorld, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_account(browser)
    sign_in(browser)
    monkeypatch.setattr(world.app.state.body_limiters.of_strangers, "max_bytes", 0)

    assert Sent("POST", "/signin").to(world, browser).status == 503
    assert send(browser, "/account/name", name="Ada").status_code != 503


def test_a_body_that_breaks_off_is_no_failure_of_ours(
    world: WebWorld, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    sent = Sent("POST", "/signin", [b"email"], is_whole=False, leaves=True).to(world, browser)

    assert sent.status == 400
    [record] = [one for one in caplog.records if one.name == requests.__name__]
    assert (record.levelname, record.exc_info) == ("INFO", None)


def test_a_read_has_no_body(world: WebWorld, browser: Browser) -> None:
    sent = Sent("GET", "/signin", [b"x" * 4096] * 64).to(world, browser)

    assert (sent.status, sent.reads) == (200, 0)


@pytest.mark.parametrize("path", ["/signin", "/live/x", "/no-such-page"])
def test_a_query_has_a_longest_length(world: WebWorld, browser: Browser, path: str) -> None:
    most = Sent("GET", f"{path}?{'a' * LONGEST_QUERY}").to(world, browser)
    more = Sent("GET", f"{path}?{'a' * (LONGEST_QUERY + 1)}").to(world, browser)

    assert most.status in (200, 404)
    assert more.status == 414
    assert b"4096" in more.text


def test_the_query_of_a_websocket_has_the_same_length(browser: Browser) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        browser.websocket_connect(f"/api/events?after={'a' * LONGEST_QUERY}"),
    ):
        pass

    assert refused.value.code == 1008


def test_the_portal_is_opened_with_two_whole_addresses(world: WebWorld, browser: Browser) -> None:
    address = "https%3A%2F%2Fapp.example%2F" + "a" * 2020
    query = f"appId=none&returnUrl={address}&appLogoUrl={address}"

    assert len(query) > LONGEST_QUERY
    assert Sent("GET", f"/appportal/v1?{query}").to(world, browser).status == 400
    assert Sent("GET", f"/appportal/v1?{'a' * 20000}").to(world, browser).status == 414


def test_a_path_has_a_longest_length(world: WebWorld, browser: Browser) -> None:
    assert Sent("GET", "/live/" + "a" * LONGEST_PATH).to(world, browser).status == 414


def test_cookies_have_a_largest_size(world: WebWorld, browser: Browser) -> None:
    answered = Sent("GET", "/signin", cookie="a" * (MAX_COOKIE_BYTES + 1)).to(world, browser)

    assert answered.status == 431
    assert b"cookies" in answered.text


@pytest.mark.slow
def test_the_framework_keeps_nothing_of_what_callers_send(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "tests.web.parser_caches", str(tmp_path)]
    printed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout

    assert json.loads(printed.splitlines()[-1]) == []


def test_queries_of_the_same_name_are_still_told_apart(browser: Browser) -> None:
    assert 'value="/one"' in browser.get("/signin?next=/one").text
    assert 'value="/two"' in browser.get("/signin?next=/two").text
