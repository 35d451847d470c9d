"""The LAN page, asked over real sockets."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from printreach.agent.lan import LanSite, is_local_host
from printreach.agent.state import AgentState, Phase
from printreach.http1.server import serve
from tests.agent.snapshots import PRINTER_ID, SERVICE_URL, HandClock, a_link_code, a_state

LOOKUP = "/api/plugin/service"


@dataclass(frozen=True)
class Reply:
    """The response. headers: names in lower case."""

    status: int
    headers: dict[str, str]
    body: str


def ask(
    state: AgentState,
    path: str = "/",
    *,
    method: str = "GET",
    host: str = "192.168.1.5:8765",
    extra: str = "",
    at: float = 100.0,
    smart_pause: str = "",
) -> Reply:
    """Serve the page of this state on loopback, and send it one request."""
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{extra}\r\n"
    raw = asyncio.run(_exchange(state, head.encode("latin-1"), at, smart_pause))
    top, _, body = raw.decode().partition("\r\n\r\n")
    first, *lines = top.split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Reply(int(first.split()[1]), headers, body)


async def _exchange(state: AgentState, request: bytes, at: float, smart_pause: str) -> bytes:
    site = LanSite(state, HandClock(at), lambda: smart_pause)
    server = await serve(site, "127.0.0.1", 0)
    try:
        async with asyncio.timeout(30):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(request)
            reply = await reader.read()
            writer.close()
            return reply
    finally:
        await server.close()


def test_an_app_learns_which_printer_this_is() -> None:
    reply = ask(a_state(is_linked=True, printer_name="Voron"), LOOKUP)

    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert json.loads(reply.body) == {
        "PrinterId": PRINTER_ID,
        "PrinterName": "Voron",
        "ServiceUrl": SERVICE_URL,
        "IsLinked": True,
        "AgentVersion": "1.2.3",
    }


def test_an_unlinked_printer_has_no_name_and_its_code_is_not_for_apps() -> None:
    state = a_state()
    state.unlinked(a_link_code())

    reply = ask(state, LOOKUP)

    assert json.loads(reply.body)["PrinterName"] == ""
    assert json.loads(reply.body)["IsLinked"] is False
    assert "ACDEFG34" not in reply.body


def test_a_query_behind_the_path_changes_nothing() -> None:
    assert ask(a_state(), f"{LOOKUP}?app=1").status == 200
    assert ask(a_state(), "/?app=1").status == 200


def test_the_page_shows_the_code_to_whoever_stands_in_the_house() -> None:
    state = a_state()
    state.unlinked(a_link_code(expires_at=700.0))

    page = ask(state, at=100.0).body

    assert "ACDE-FG34" in page
    assert f'href="{SERVICE_URL}/link?code=ACDEFG34"' in page
    assert "about 10 minutes" in page


def test_the_page_shows_no_code_that_has_expired() -> None:
    state = a_state()
    state.unlinked(a_link_code(expires_at=700.0))

    assert "ACDE" not in ask(state, at=700.0).body


def test_the_page_of_a_linked_printer_says_how_to_unlink_it() -> None:
    page = ask(a_state(phase=Phase.CONNECTED, is_linked=True, printer_name="Voron")).body

    assert "<h1>Voron</h1>" in page
    assert "You can reach this printer from anywhere." in page
    assert f"remove it from your account at {SERVICE_URL}" in page


def test_the_page_shows_what_went_wrong() -> None:
    assert "No answer." in ask(a_state(phase=Phase.DISCONNECTED, last_error="No answer.")).body


def test_the_page_asks_for_itself_again_and_sooner_while_something_is_awaited() -> None:
    assert '"refresh" content="5"' in ask(a_state(phase=Phase.UNLINKED)).body
    assert '"refresh" content="30"' in ask(a_state(phase=Phase.CONNECTED)).body


def test_words_from_outside_are_shown_as_words() -> None:
    state = a_state(is_linked=True, printer_name='<img src=x onerror="alert(1)">&')
    state.disconnected("<script>alert(2)</script>", retry_at=105.0)

    page = ask(state).body

    assert "<img" not in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(2)&lt;/script&gt;" in page


def test_a_quote_in_the_link_stays_inside_the_link() -> None:
    state = a_state()
    state.unlinked(a_link_code(link_url='https://h/"onclick="x'))

    assert 'href="https://h/&quot;onclick=&quot;x"' in ask(state).body


@pytest.mark.parametrize("path", ["/", LOOKUP, "/nothing"])
def test_no_other_site_may_read_frame_script_or_keep_an_answer(path: str) -> None:
    headers = ask(a_state(), path, extra="Origin: https://evil.example\r\n").headers

    assert "access-control-allow-origin" not in headers
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_the_pages_own_style_is_the_one_its_policy_admits() -> None:
    reply = ask(a_state())

    style = reply.body.partition("<style>")[2].partition("</style>")[0]
    expected = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{expected}'" in reply.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", LOOKUP])
def test_a_head_request_is_answered_without_a_body(path: str) -> None:
    reply, whole = ask(a_state(), path, method="HEAD"), ask(a_state(), path)

    assert reply.status == 200
    assert reply.body == ""
    assert reply.headers["content-length"] == str(len(whole.body.encode()))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("path", ["/", LOOKUP])
def test_nothing_can_be_changed_from_the_network(method: str, path: str) -> None:
    reply = ask(a_state(), path, method=method, extra="Content-Length: 0\r\n")

    assert reply.status == 405
    assert reply.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [
        "/status.json",
        "/agent.key",
        "//",
        "/../agent.key",
        "/%2e%2e/agent.key",
        "/api/plugin/service/",
        "/api/plugin/Service",
        "/api//plugin/service",
        "/%2Fapi/plugin/service",
    ],
)
def test_there_is_nothing_else(path: str) -> None:
    assert ask(a_state(), path).status == 404


@pytest.mark.parametrize("path", ["/", LOOKUP, "/nothing"])
@pytest.mark.parametrize("host", ["rebound.example", "192.168.1.5.rebound.example:8765"])
def test_a_foreign_name_is_told_nothing_wherever_it_points(path: str, host: str) -> None:
    state = a_state(is_linked=True, printer_name="Voron")
    state.unlinked(a_link_code())

    reply = ask(state, path, host=host)

    assert reply.status == 403
    assert PRINTER_ID not in reply.body
    assert "ACDE" not in reply.body


@pytest.mark.parametrize(
    "authority",
    [
        b"192.168.1.5",
        b"192.168.1.5:8765",
        b"[fe80::1]",
        b"[fe80::1%eth0]:8765",
        b"localhost",
        b"LocalHost:8765",
        b"raspberrypi",
        b"raspberry-pi_2:8765",
        b"octopi.local",
        b"octopi.local.:8765",
        b"OctoPi.LAN",
        b"printer.cellar.home.arpa",
        b"printer.localhost",
    ],
)
def test_names_that_only_a_local_network_gives_are_local(authority: bytes) -> None:
    assert is_local_host(authority)


@pytest.mark.parametrize(
    "authority",
    [
        b"",
        b":8765",
        b".local",
        b"..local",
        b"local.example",
        b"octopi.local.example",
        b"octopi-local.com",
        b"evil.com:80@octopi.local",
        b"octopi.local:80:80",
        b"octopi.local:port",
        b"octopi.local/evil.example",
        b"octopi.local, evil.example",
        b"octopi.local\xe3\x80\x82",
        b"home.arpa.example",
        b"[evil.example]",
        b"[::1",
        b"[::1].evil.example",
        b"::1",
        b"1.2.3.4.5",
        b"xn--lcal-5qa.com",
        b"-.local",
        b"a" * 64 + b".local",
        b"a." * 16000 + b"example",
    ],
)
def test_every_other_name_is_foreign(authority: bytes) -> None:
    assert not is_local_host(authority)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda request: request.replace("\r\nConnection", "\r\nHost: other.local\r\nConnection"),
        lambda request: request.replace("Host: ", "Nost: "),
        lambda request: request.replace("GET /", "GET http://rebound.example/"),
    ],
)
def test_two_hosts_or_none_or_another_in_the_target_get_no_page(
    spoil: Callable[[str], str],
) -> None:
    request = spoil("GET / HTTP/1.1\r\nHost: octopi.local\r\nConnection: close\r\n\r\n")

    raw = asyncio.run(_exchange(a_state(), request.encode(), 100.0, ""))

    assert int(raw.split()[1]) in (400, 403)
    assert PRINTER_ID.encode() not in raw


def test_people_beside_the_printer_are_shown_the_popup_of_a_smart_pause() -> None:
    linked = a_state(is_linked=True, printer_name="Voron")

    assert "Smart pause" not in ask(linked).body
    page = ask(linked, smart_pause="The hotend is off & cold.").body
    assert "<h2>Smart pause</h2><p>The hotend is off &amp; cold.</p>" in page
