"""Calls of webhooks: only to checked addresses, and within the timeout."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from printreach.backends import webhook_http
from printreach.backends.webhook_http import WebhookHttp
from printreach.rules.public_addresses import PRIVATE_NETWORKS, PUBLIC_ONLY, Reach
from printreach.rules.webhooks import Outcome
from tests.fakes.names import FakeLookup
from tests.rigs.certificates import Authority, self_signed
from tests.rigs.receiver import (
    Behave,
    Received,
    Receiver,
    Writer,
    always,
    answer,
    hang,
    hang_up,
    receiving,
    server_tls,
)

T = TypeVar("T")
NAME = "hook.example"
HEADERS = [("webhook-id", "event-1")]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no receiver a silent one, where a test is not about that."""
    monkeypatch.setattr(webhook_http, "TIMEOUT_S", 60.0)


HOME = Reach(networks=PRIVATE_NETWORKS)
LOOPBACK = FakeLookup(hook_example=[["127.0.0.1"]])


@asynccontextmanager
async def sending(
    lookup: FakeLookup = LOOPBACK, reach: Reach = HOME, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[WebhookHttp]:
    sender = WebhookHttp(lookup, reach, tls=tls)
    try:
        yield sender
    finally:
        await sender.close()


def sent_to(behave: Behave, test: Callable[[Receiver, Outcome], None] | None = None) -> Outcome:
    """What comes of one call to a receiver that behaves like that."""

    async def call() -> Outcome:
        async with receiving() as receiver, sending() as sender:
            receiver.behave = behave
            outcome = await sender.send(f"http://{NAME}:{receiver.port}/x?y=1", HEADERS, b"{}")
            if test is not None:
                test(receiver, outcome)
            return outcome

    return asyncio.run(call())


def says(*pieces: bytes, then: Behave = hang) -> Behave:
    """Send these bytes as they are."""

    async def behave(received: Received, writer: Writer) -> bool:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return await then(received, writer)

    return behave


# --- what is sent ----------------------------------------


def test_a_message_arrives_as_it_was_given() -> None:
    def look(receiver: Receiver, outcome: Outcome) -> None:
        [one] = receiver.received
        assert one.line == "POST /x?y=1 HTTP/1.1"
        assert one.body == b"{}"
        assert one.headers["host"] == f"{NAME}:{receiver.port}"
        assert one.headers["content-type"] == "application/json"
        assert one.headers["webhook-id"] == "event-1"
        assert outcome.is_success
        assert outcome.http_status == 200
        assert outcome.error is None

    sent_to(always(200), look)


def test_one_connection_carries_many_messages() -> None:
    async def call() -> None:
        async with receiving() as receiver, sending() as sender:
            for _ in range(5):
                await sender.send(f"http://{NAME}:{receiver.port}/", HEADERS, b"{}")
            assert len(receiver.received) == 5
            assert receiver.connections == 1

    asyncio.run(call())


def test_a_kept_connection_that_is_closed_as_it_is_used_costs_nothing() -> None:
    async def behave(received: Received, writer: Writer) -> bool:
        await answer(writer, 200)
        return False  # without saying so before

    async def call() -> None:
        async with receiving() as receiver, sending() as sender:
            receiver.behave = behave
            url = f"http://{NAME}:{receiver.port}/"
            outcomes = [await sender.send(url, HEADERS, b"{}") for _ in range(5)]
            assert all(one.is_success for one in outcomes)

    asyncio.run(call())


# --- hostile receivers ----------------------------------------


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(status: int) -> None:
    def look(receiver: Receiver, outcome: Outcome) -> None:
        assert len(receiver.received) == 1
        assert outcome.http_status == status
        assert not outcome.is_success
        assert "redirects are not followed" in (outcome.error or "")

    sent_to(always(status, "Location: http://127.0.0.1:1/elsewhere"), look)


@pytest.mark.parametrize("status", [400, 404, 410, 500, 503])
def test_a_failure_is_told_by_its_status(status: int) -> None:
    outcome = sent_to(always(status))

    assert outcome.http_status == status
    assert not outcome.is_success


@pytest.mark.parametrize(
    ("value", "expected"),
    [("120", timedelta(minutes=2)), ("-1", None), ("soon", None), ("9" * 30, None)],
)
def test_a_receiver_can_ask_to_be_left_alone_for_a_while(
    value: str, expected: timedelta | None
) -> None:
    assert sent_to(always(503, f"Retry-After: {value}")).retry_after == expected


def test_a_receiver_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "TIMEOUT_S", 0.2)
    outcome = sent_to(hang)

    assert outcome.http_status is None
    assert "no answer within" in (outcome.error or "")


def test_a_head_that_drips_has_no_more_time_than_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook_http, "TIMEOUT_S", 0.3)

    async def drip(_: Received, writer: Writer) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X: y\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    assert "no answer within" in (sent_to(drip).error or "")


def test_interim_answers_without_end_are_no_answer() -> None:
    outcome = sent_to(says(b"HTTP/1.1 102 X\r\n\r\n" * 1000))

    assert not outcome.is_success
    assert "interim" in (outcome.error or "")


def test_a_body_that_drips_does_not_hide_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "BODY_TIMEOUT_S", 0.1)
    outcome = sent_to(says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"x"))

    assert outcome.is_success


def test_an_answer_of_ten_gigabytes_is_cut() -> None:
    written = 0

    async def flood(_: Received, writer: Writer) -> bool:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            written += 65536

    outcome = sent_to(flood)

    assert outcome.is_success
    assert written < 64 * 1024 * 1024


@pytest.mark.parametrize(
    "behave",
    [
        hang_up,
        says(b"HTTP/1.1 200", then=hang_up),
        says(b"\x00\xff" * 100, then=hang_up),
        says(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
        says(b"HTTP/1.1 999999 X\r\n\r\n"),
        says(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000),
    ],
    ids=["hangs up", "in the head", "noise", "another protocol", "no status", "endless head"],
)
def test_what_is_no_answer_is_a_failure_with_a_reason(behave: Behave) -> None:
    outcome = sent_to(behave)

    assert outcome.http_status is None
    assert (outcome.error or "").startswith("The receiver gave no answer: ")


def test_a_port_where_nobody_listens_is_told() -> None:
    async def call(port: int) -> Outcome:
        async with sending() as sender:
            return await sender.send(f"http://{NAME}:{port}/", HEADERS, b"{}")

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        outcome = asyncio.run(call(taken.getsockname()[1]))
    assert outcome.error == "The receiver can't be reached: Connection refused."


# --- TLS ----------------------------------------


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.root))


def sent_over_tls(
    certificate: tuple[Path, Path], trust: ssl.SSLContext | None, url: str = f"https://{NAME}"
) -> Outcome:
    async def call() -> Outcome:
        async with receiving(server_tls(certificate)) as receiver, sending(tls=trust) as sender:
            return await sender.send(f"{url}:{receiver.port}/", HEADERS, b"{}")

    return asyncio.run(call())


def test_a_receiver_proves_its_name_although_its_address_is_called(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    assert sent_over_tls(authority.issue(NAME), trusting(authority)).is_success
    assert sent_over_tls(authority.issue(NAME), trusting(authority), f"https://{NAME}.").is_success


def test_bad_tls_is_told_as_what_it_is(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    other_name = sent_over_tls(authority.issue("other.example"), trusting(authority))
    unknown = sent_over_tls(authority.issue(NAME), None)
    alone = sent_over_tls(self_signed(tmp_path, NAME), None)

    assert "TLS failed" in (other_name.error or "")
    assert NAME in (other_name.error or "")
    assert "issuer certificate" in (unknown.error or "")
    assert "self-signed" in (alone.error or "")


def test_a_receiver_without_tls_is_no_https_receiver() -> None:
    async def greet(_: asyncio.StreamReader, writer: Writer) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")

    async def call() -> Outcome:
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, sending() as sender:
            return await sender.send(f"https://{NAME}:{port}/", HEADERS, b"{}")

    assert "TLS failed" in (asyncio.run(call()).error or "")


# --- where it may go ----------------------------------------


def guarded(lookup: FakeLookup, test: Callable[[WebhookHttp], Awaitable[T]]) -> T:
    async def run() -> T:
        async with sending(lookup, PUBLIC_ONLY) as sender:
            return await test(sender)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:7f00:1"], ["fe80::1%eth0"], ["fd00::1"]],
)
def test_a_name_that_leads_to_a_private_address_is_refused(addresses: list[str]) -> None:
    names = FakeLookup(hook_example=[addresses])
    problem = guarded(names, lambda sender: sender.problem_with(f"https://{NAME}/"))
    outcome = guarded(names, lambda sender: sender.send(f"https://{NAME}/", HEADERS, b"{}"))

    assert problem == (
        "WebhookUrl can't be called: its name leads to an address that isn't public."
    )
    assert outcome.error == (
        "The receiver can't be reached: its name leads to an address that isn't public."
    )


def test_a_name_that_changes_between_check_and_connect_is_not_followed() -> None:
    async def call() -> None:
        async with receiving() as receiver:
            names = FakeLookup(hook_example=[["8.8.8.8"], ["127.0.0.1"]])
            url = f"https://{NAME}:{receiver.port}/"
            async with sending(names, PUBLIC_ONLY) as sender:
                assert await sender.problem_with(url) is None
                outcome = await sender.send(url, HEADERS, b"{}")

            assert outcome.error is not None
            assert receiver.connections == 0
            # Each connection looks the name up once, and goes to what it was told.
            assert names.asked == [NAME, NAME]

    asyncio.run(call())


def test_a_target_that_was_set_while_private_ones_were_allowed_is_called_no_more() -> None:
    async def call() -> None:
        async with receiving() as receiver, sending(reach=PUBLIC_ONLY) as sender:
            url = f"http://127.0.0.1:{receiver.port}/"
            outcome = await sender.send(url, HEADERS, b"{}")

            assert outcome.error == "WebhookUrl must begin with https://."
            assert receiver.connections == 0

    asyncio.run(call())


@pytest.mark.parametrize("url", ["https://nowhere.example/", "https://127.0.0.1/", "nonsense"])
def test_what_can_not_be_called_has_a_problem(url: str) -> None:
    problem = guarded(FakeLookup(), lambda sender: sender.problem_with(url))

    assert problem is not None
    assert problem.startswith("WebhookUrl")


def test_a_lookup_that_never_ends_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "LOOKUP_TIMEOUT_S", 0.05)

    class Silent(FakeLookup):
        async def __call__(self, host: str) -> Sequence[str]:
            await asyncio.Event().wait()
            return []

    problem = guarded(Silent(), lambda sender: sender.problem_with(f"https://{NAME}/"))
    assert problem == "WebhookUrl can't be called: its name leads to no address."


def test_the_next_address_is_tried_where_one_is_down() -> None:
    async def call() -> None:
        async with receiving() as receiver:
            names = FakeLookup(hook_example=[["::1", "127.0.0.1"]])
            async with sending(names) as sender:
                url = f"http://{NAME}:{receiver.port}/"
                assert (await sender.send(url, HEADERS, b"{}")).is_success

    asyncio.run(call())


def test_what_would_end_a_header_is_sent_to_nobody() -> None:
    async def call() -> None:
        async with sending() as sender:
            with pytest.raises(ValueError, match="header"):
                await sender.send(f"http://{NAME}:1/", [("webhook-id", "event-1\n")], b"{}")

    asyncio.run(call())
