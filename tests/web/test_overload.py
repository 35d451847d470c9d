"""A service with more to do than it can: who is refused, how, and before what."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest
from httpx import Response
from litestar import Router, get
from litestar.testing import TestClient

from printreach.hub.tries import UNKNOWN_SESSION_BY_ADDRESS
from printreach.limiters.fair_semaphore import TooBusy
from printreach.limiters.slots import Slots
from printreach.ports import StoreUnavailable
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.store.store import Records, Store
from printreach.web.problems import answer_app_api_failure
from printreach.web.requests import OF_ACCOUNT, OF_ONE, UnansweredRequest
from tests.web.world import BASE_URL, Browser, WebWorld, sign_in

T = TypeVar("T")


@get("/overloaded", sync_to_thread=False)
def overloaded() -> str:
    raise StoreUnavailable("The database gave no answer.")


@get("/pictures-away", sync_to_thread=False)
def pictures_away() -> str:
    raise SnapshotsUnavailable("A picture can't be read: connection refused.")


@get("/crowded", sync_to_thread=False)
def crowded() -> str:
    raise TooBusy("others wait already")


APP_API = Router(
    "/api",
    route_handlers=[overloaded, crowded, pictures_away],
    exception_handlers={Exception: answer_app_api_failure},
)


@pytest.fixture
def client(world: WebWorld) -> Iterator[Browser]:
    app = world.app_with(APP_API, overloaded, crowded, pictures_away)
    with TestClient(app, base_url=BASE_URL, raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize("prefix", ["", "/api"])
@pytest.mark.parametrize("path", ["/overloaded", "/crowded", "/pictures-away"])
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_overload_is_503_with_a_time_to_come_back_and_one_line_in_the_log(
    client: Browser, prefix: str, path: str, accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answer = client.get(f"{prefix}{path}", headers={"accept": accept})

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    mine = [record for record in caplog.records if record.name == "printreach.web.problems"]
    assert [(record.levelname, record.exc_info) for record in mine] == [("WARNING", None)]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One item for each read of the store."""
    made: list[int] = []
    read = Store.read

    async def counted(self: Store, work: Callable[[Records], Awaitable[T]]) -> T:
        made.append(1)
        return await read(self, work)

    monkeypatch.setattr(Store, "read", counted)
    return made


def _ask(browser: Browser, token: str) -> Response:
    browser.cookies.clear()
    headers = {"cookie": f"__Host-printreach_session={token}", "accept": "application/json"}
    return browser.get("/printers", headers=headers)


def _session(browser: Browser) -> str:
    assert sign_in(browser).status_code == 303
    return browser.cookies["__Host-printreach_session"]


def test_a_network_with_many_wrong_cookies_is_refused_before_the_store_is_asked(
    browser: Browser, reads: list[int]
) -> None:
    for number in range(UNKNOWN_SESSION_BY_ADDRESS.at_once):
        assert _ask(browser, f"wrong{number}").status_code == 401
    reads.clear()

    assert _ask(browser, "another").status_code == 429
    assert reads == []


def test_wrong_cookies_shut_nobody_of_the_same_network_out(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    before = _session(browser)
    for number in range(UNKNOWN_SESSION_BY_ADDRESS.at_once + 1):
        _ask(browser, f"wrong{number}")

    assert _ask(browser, before).status_code == 200
    browser.cookies.clear()
    assert _ask(browser, _session(browser)).status_code == 200


def test_a_session_over_its_limit_is_refused_before_the_store_is_asked(
    world: WebWorld, browser: Browser, reads: list[int]
) -> None:
    world.add_account(browser)
    token = _session(browser)
    while _ask(browser, token).status_code != 429:
        pass
    reads.clear()

    assert _ask(browser, token).status_code == 429
    assert reads == []


def test_what_an_account_waits_for_is_bounded_by_browser_and_in_all() -> None:
    slots = Slots()

    def begin(by: str) -> UnansweredRequest:
        request = UnansweredRequest("network", slots)
        request.note("account", by)
        return request

    first = [begin("one browser") for _ in range(OF_ONE)]
    with pytest.raises(TooBusy):
        begin("one browser")
    begin("another browser").end()
    for number in range(OF_ACCOUNT - OF_ONE):
        begin(f"browser {number}")
    with pytest.raises(TooBusy):
        begin("the last browser")
    first[0].end()
    begin("one browser")


def test_requests_that_were_answered_or_failed_are_counted_no_more(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    token = _session(browser)

    statuses = {_ask(browser, token).status_code for _ in range(OF_ONE + 50)}

    assert statuses == {200}
