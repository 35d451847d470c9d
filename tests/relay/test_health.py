"""/healthz, /readyz and /metrics, and the answer to a foreign Host."""

from ipaddress import ip_network

import pytest

from printreach.http1.heads import parse_request
from printreach.relay.caller_origin import Network
from printreach.relay.health import Health
from printreach.rules.histogram import Histogram
from printreach.wire.build import BUILD
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay


def metrics_for(peer: str, *fields: bytes, networks: list[str] | None = None) -> int:
    """The status that /metrics has for a caller with these headers."""
    trusted: list[Network] = [ip_network(one) for one in networks or []]
    health = Health(lambda: True, {"x": ("X.", lambda: 1)}, trusted)
    asked = parse_request(request(OWN, *fields, target=b"/metrics"))
    return health.answer(b"/metrics", asked.headers, peer).status


@pytest.mark.parametrize(
    ("peer", "fields", "networks", "status"),
    [
        ("127.0.0.1", [], [], 200),
        ("127.9.9.9", [], [], 200),
        ("::1", [], [], 200),
        ("::ffff:127.0.0.1", [], [], 200),
        ("192.168.1.5", [], [], 403),
        ("192.168.1.5", [], ["192.168.1.0/24"], 200),
        ("203.0.113.9", [], ["192.168.1.0/24"], 403),
        ("", [], [], 403),
        ("127.evil", [], [], 403),
        ("127.1", [], [], 403),
        # a proxy on this machine that nobody has told us of must not make its callers local
        ("127.0.0.1", [b"X-Forwarded-For: 203.0.113.9"], [], 403),
        ("127.0.0.1", [b"X-Forwarded-For: 127.0.0.1"], [], 403),
        ("127.0.0.1", [b"X-Forwarded-For:"], [], 403),
        ("127.0.0.1", [b"Forwarded: for=203.0.113.9"], [], 403),
        ("127.0.0.1", [b"X-Real-IP: 203.0.113.9"], [], 403),
        ("127.0.0.1", [b"X-Forwarded-Proto: https"], [], 403),
        ("127.0.0.1", [b"X-Forwarded-Host: x"], [], 403),
        ("127.0.0.1", [b"Via: 1.1 proxy"], [], 403),
        # one that we know of speaks for its callers
        ("127.0.0.1", [b"X-Forwarded-For: 203.0.113.9"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"X-Forwarded-For: 127.0.0.1"], ["127.0.0.1/32"], 200),
        ("10.0.0.1", [b"X-Forwarded-For: 10.0.0.2"], ["10.0.0.0/8"], 200),
        ("10.0.0.1", [b"X-Forwarded-For: 203.0.113.9, 10.0.0.2"], ["10.0.0.0/8"], 403),
        ("203.0.113.9", [b"X-Forwarded-For: 127.0.0.1"], ["10.0.0.0/8"], 403),
        ("10.0.0.1", [b"X-Forwarded-For: 10.0.0.2:4711"], ["10.0.0.0/8"], 200),
        ("10.0.0.1", [b"X-Forwarded-For: 203.0.113.9:4711"], ["10.0.0.0/8"], 403),
        # one that names nobody opens it to nobody
        ("10.0.0.1", [b"X-Forwarded-For: [2001:db8::9]:4711"], ["10.0.0.0/8"], 403),
        ("127.0.0.1", [b"X-Forwarded-For: unknown"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"X-Forwarded-For: 127.0.0.1, unknown"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"X-Forwarded-For:"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"Forwarded: for=_hidden"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"X-Real-IP: 203.0.113.9"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"X-Forwarded-Proto: https"], ["127.0.0.1/32"], 403),
        ("127.0.0.1", [b"Via: 1.1 proxy"], ["127.0.0.1/32"], 403),
    ],
)
def test_metrics_are_for_loopback_and_configured_networks(
    peer: str, fields: list[bytes], networks: list[str], status: int
) -> None:
    assert metrics_for(peer, *fields, networks=networks) == status


@pytest.mark.parametrize("host", [OWN, b"127.0.0.1", b"anything.example:99"])
@on_a_loop
async def test_health_is_answered_on_our_own_host_and_on_any_that_is_no_printers(
    host: bytes,
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        for target, text in (
            (b"/healthz", b"alive\n"),
            (b"/readyz?x", f"ready\n{BUILD}\n".encode()),
        ):
            caller.send(request(host, target=target))
            answer = await caller.answer()
            assert (answer.status, answer.body) == (200, text)


@on_a_loop
async def test_on_a_printers_host_these_paths_are_the_printers() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        for target in (b"/healthz", b"/readyz", b"/metrics"):
            caller.send(request(access.host, access.bearer, target=target))
            assert (await caller.answer()).body == b"GET " + target


def test_a_node_that_does_not_serve_is_alive_but_not_ready() -> None:
    health = Health(lambda: False, {}, [])
    for path, status in ((b"/healthz", 200), (b"/readyz", 503)):
        assert health.answer(path, [], "").status == status


@on_a_loop
async def test_metrics_are_in_the_prometheus_format() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        await rig.agent()
        caller.send(request(b"localhost", target=b"/metrics"))
        lines = (await caller.answer()).body.decode().splitlines()

        assert "# TYPE printreach_requests_total counter" in lines
        assert "# TYPE printreach_agents gauge" in lines
        assert "printreach_printers_online 1" in lines
        assert "printreach_requests_total 2" in lines


def test_a_large_counter_is_written_to_the_last_digit() -> None:
    health = Health(lambda: True, {"x_total": ("X.", lambda: 123_456_789)}, [])

    assert b"\nx_total 123456789\n" in health.answer(b"/metrics", [], "127.0.0.1").text


@pytest.mark.parametrize("host", [b"evil.example", b"127.0.0.1:8080", b"a.b.tunnel.example"])
@on_a_loop
async def test_a_foreign_host_is_sent_to_the_base_url_whatever_it_asks(host: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        for method, target in ((b"GET", b"/x?y"), (b"POST", b"/"), (b"OPTIONS", b"*")):
            caller.send(request(host, method=method, target=target))
            answer = await caller.answer()
            assert (answer.status, answer.get(b"location")) == (307, b"http://relay.example/")

        assert rig.web.asked == []


@on_a_loop
async def test_a_request_of_http_1_0_without_host_is_a_foreign_one() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(b"GET / HTTP/1.0\r\n\r\n")

        assert (await caller.answer()).status == 307
        assert await caller.is_closed()


@on_a_loop
async def test_a_head_after_a_health_check_with_a_body_is_a_request_of_its_own() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN, method=b"POST", target=b"/healthz", body=b"GET / HTTP/1.1"))
        caller.send(request(OWN, target=b"/next"))

        assert (await caller.answer()).status == 200
        assert (await caller.answer()).body == b'{"web": "GET /next"}'


@pytest.mark.parametrize("is_ready", [True, False])
def test_readyz_says_what_the_node_lacks(is_ready: bool) -> None:
    health = Health(lambda: is_ready, {}, [], lambda: ["database", "bus"])

    answer = health.answer(b"/readyz", [], "203.0.113.9")

    assert answer.status == (200 if is_ready else 503)
    assert answer.text.endswith(b"lacks: database\nlacks: bus\n")


def test_a_histogram_is_written_as_prometheus_reads_it() -> None:
    histogram = Histogram()
    for duration_s in (0.004, 0.005, 0.2, 100.0):
        histogram.observe(duration_s)
    health = Health(lambda: True, {}, [], histograms={"x_seconds": ("X.", histogram)})

    lines = health.answer(b"/metrics", [], "127.0.0.1").text.decode().splitlines()

    assert lines[:4] == [
        "# HELP x_seconds X.",
        "# TYPE x_seconds histogram",
        'x_seconds_bucket{le="0.005"} 2',
        'x_seconds_bucket{le="0.01"} 2',
    ]
    assert lines[-4:] == [
        'x_seconds_bucket{le="30"} 3',
        'x_seconds_bucket{le="+Inf"} 4',
        "x_seconds_sum 100.209",
        "x_seconds_count 4",
    ]
