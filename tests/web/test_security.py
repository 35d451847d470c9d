"""The headers of every answer, and the requests that are refused for their origin."""

from collections.abc import Iterator

import pytest
from litestar import Litestar, get, post, websocket
from litestar.connection import WebSocket
from litestar.datastructures import State
from litestar.exceptions import WebSocketDisconnect
from litestar.testing import TestClient

from printreach.web.app import WebSettings, create_app
from printreach.web.security import CONTENT_SECURITY_POLICY, origin_of
from tests.web.world import BASE_URL, WebWorld

Client = TestClient[Litestar]

COOKIE = {"cookie": "session=s3cret"}
FOREIGN = [
    "https://evil.example",
    "http://printreach.example",
    "https://printreach.example:8443",
    "https://own-abc.printreach.example",
    "https://printreach.example.evil.example",
    "HTTPS://PRINTREACH.EXAMPLE",
    "null",
    "",
]


@post("/change", status_code=200, sync_to_thread=False)
def change() -> str:
    return "changed"


@get("/framed", sync_to_thread=False)
def framed() -> str:
    raise RuntimeError("unforeseen")


@websocket("/socket")
async def socket(socket: WebSocket[None, None, State]) -> None:
    await socket.accept()
    await socket.send_text("open")
    await socket.close()


@pytest.fixture
def changing(world: WebWorld) -> Iterator[Client]:
    """A browser before an application with these routes, too."""
    with TestClient(world.app_with(change, framed, socket), base_url=BASE_URL) as client:
        client.headers["accept"] = "text/html,*/*;q=0.8"
        yield client


@pytest.mark.parametrize("path", ["/", "/link?code=x", "/no", "/static/app.css", "/openapi.json"])
def test_every_answer_carries_the_security_headers(browser: Client, path: str) -> None:
    headers = browser.get(path).headers

    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_a_fault_of_ours_carries_them_too(changing: Client) -> None:
    answer = changing.get("/framed")

    assert answer.status_code == 500
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


def test_the_policy_allows_no_inline_code_and_no_framing() -> None:
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "script-src 'self';" in CONTENT_SECURITY_POLICY
    assert CONTENT_SECURITY_POLICY.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in CONTENT_SECURITY_POLICY


def test_pages_are_not_kept_by_caches(browser: Client) -> None:
    assert browser.get("/").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_change_from_our_own_page_passes(changing: Client, method: str) -> None:
    answer = changing.request(method, "/change", headers={**COOKIE, "origin": BASE_URL})

    assert answer.status_code == (200 if method == "POST" else 405)


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_change_with_a_cookie_from_another_origin_is_refused(
    changing: Client, origin: str
) -> None:
    answer = changing.post("/change", headers={**COOKIE, "origin": origin})

    assert answer.status_code == 403
    assert "changed" not in answer.text


def test_a_change_with_a_cookie_and_no_origin_is_refused(changing: Client) -> None:
    assert changing.post("/change", headers=COOKIE).status_code == 403


def test_two_origins_are_as_bad_as_none(changing: Client) -> None:
    headers = [("cookie", "session=s"), ("origin", BASE_URL), ("origin", "https://evil.example")]

    assert changing.post("/change", headers=headers).status_code == 403


def test_a_refused_change_tells_a_person_with_a_page_and_a_program_with_json(
    changing: Client,
) -> None:
    page = changing.post("/change", headers=COOKIE)
    body = changing.post("/change", headers={**COOKIE, "accept": "application/json"})

    assert page.headers["content-type"].startswith("text/html")
    assert "did not come from a page of this service" in page.text
    assert body.json() == {
        "Status": 403,
        "Error": "This request did not come from a page of this service.",
    }


def test_a_change_without_a_cookie_passes_from_anywhere(changing: Client) -> None:
    assert changing.post("/change").status_code == 200
    assert changing.post("/change", headers={"origin": "capacitor://localhost"}).status_code == 200


def test_reading_with_a_cookie_needs_no_origin(browser: Client) -> None:
    assert browser.get("/", headers=COOKIE).status_code == 200


def test_a_websocket_with_a_cookie_opens_only_from_our_own_page(changing: Client) -> None:
    with changing.websocket_connect("/socket", headers={**COOKIE, "origin": BASE_URL}) as own:
        assert own.receive_text() == "open"

    foreign = {**COOKIE, "origin": "https://evil.example"}
    with (
        pytest.raises(WebSocketDisconnect),
        changing.websocket_connect("/socket", headers=foreign) as refused,
    ):
        refused.receive_text()


@pytest.mark.parametrize(
    ("base_url", "origin"),
    [
        ("http://localhost:8080", "http://localhost:8080"),
        ("https://Printreach.Example", "https://printreach.example"),
        ("https://printreach.example:443/", "https://printreach.example"),
        ("http://printreach.example:80", "http://printreach.example"),
        ("http://printreach.example:443", "http://printreach.example:443"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(base_url: str, origin: str) -> None:
    assert origin_of(base_url) == origin


@pytest.mark.slow
def test_browsers_are_told_to_use_https_alone_where_the_host_is_the_services_own(
    world: WebWorld,
) -> None:
    for requires_https, told in ((True, "max-age=31536000"), (False, None)):
        settings = WebSettings(
            base_url=BASE_URL, has_mail_server=False, requires_https=requires_https
        )
        with TestClient(create_app(settings, world.services), base_url=BASE_URL) as client:
            for path in ("/healthz", "/no-such-page", "/static/app.css"):
                answer = client.get(path)
                assert answer.headers.get("strict-transport-security") == told, path
