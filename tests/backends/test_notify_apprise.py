"""Apprise itself, inside its fence, against servers on this machine."""

import asyncio
import logging
import os
import socket
import subprocess
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import requests

from printreach.backends.fence import Fence, FenceViolation, inside, take_no_proxies
from printreach.backends.notify_apprise import AT_ONCE, AppriseMessenger
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.public_addresses import PRIVATE_NETWORKS, PUBLIC_ONLY, Reach
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until

HOME = Reach(networks=PRIVATE_NETWORKS)
"""As an operator at home sets it."""
TOKEN = "AbCdEfGhIjKlMnO"
ANSWER = b"HTTP/1.1 %d Said\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"

PATIENCE_S = 60.0

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """A server on a port of its own that keeps what it is asked, and answers as told."""

    def __init__(self, answer: Answer | int = 200) -> None:
        self.asked: list[bytes] = []
        self._answer = answer
        self.release = asyncio.Event()

    async def __aenter__(self) -> "Server":
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release.set()
        self._server.close()

    @property
    def gotify(self) -> str:
        return f"gotify://127.0.0.1:{self.port}/{TOKEN}"

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        self.asked.append(head + await reader.readexactly(length))
        try:
            if isinstance(self._answer, int):
                writer.write(ANSWER % self._answer)
                await writer.drain()
            else:
                await self._answer(reader, writer)
        except OSError:
            pass
        finally:
            writer.close()


def patient_messenger() -> AppriseMessenger:
    """One that calls this machine, and waits for it however busy it is."""
    return AppriseMessenger(reach=HOME, deadline_s=PATIENCE_S, call_timeout_s=PATIENCE_S)


@on_a_loop
async def test_a_message_is_taken_by_a_service() -> None:
    async with Server() as server:
        messenger = patient_messenger()
        said = await messenger.send(server.gotify, "Workshop: print done", "vase.gcode is done.")

    assert said is None
    assert b"Workshop: print done" in server.asked[0]
    assert b"vase.gcode is done." in server.asked[0]
    assert TOKEN.encode() in server.asked[0]


@on_a_loop
async def test_a_message_names_no_picture_of_another_site() -> None:
    async with Server() as server:
        sent = await patient_messenger().send(
            f"ntfy://127.0.0.1:{server.port}/topic", "Workshop", "Done."
        )

    assert sent is None
    assert b"x-icon" not in server.asked[0].lower()
    assert b"github" not in server.asked[0].lower()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_message_takes_no_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with Server() as server, Server() as proxy:
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            said = await patient_messenger().send(server.gotify, "t", "t")

        assert said is None
        assert (len(server.asked), len(proxy.asked)) == (1, 0)

    body()


@on_a_loop
async def test_a_proxy_of_the_environment_leads_a_message_to_no_private_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Server() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        messenger = AppriseMessenger(deadline_s=PATIENCE_S, call_timeout_s=PATIENCE_S)
        said = await messenger.send(f"gotifys://127.0.0.1/{TOKEN}", "t", "t")

    assert said == NotSent(SendFailure.NOT_ALLOWED)
    assert proxy.asked == []


def test_whoever_calls_outside_of_a_fence_takes_the_proxies_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take_no_proxies(requests.utils)
    take_no_proxies(requests.utils)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")

    assert requests.utils.get_environ_proxies("http://a.example")["http"]
    with inside(Fence(reach=HOME)):
        assert requests.utils.get_environ_proxies("http://a.example") == {}


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_refusal_is_told_with_its_status(status: int) -> None:
    async def send() -> NotSent | None:
        async with Server(status) as server:
            return await patient_messenger().send(server.gotify, "t", "t")

    assert asyncio.run(send()) == NotSent(SendFailure.REFUSED, status)


@on_a_loop
async def test_nobody_at_an_address_is_told_as_that() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        url = f"gotify://127.0.0.1:{taken.getsockname()[1]}/{TOKEN}"

        said = await patient_messenger().send(url, "t", "t")

    assert said == NotSent(SendFailure.UNREACHABLE)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "100.64.0.1"),
        *("0.0.0.0", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[fd00::1]", "127.1"),
    ],
)
def test_no_address_but_a_public_one_is_called(host: str) -> None:
    """Whatever it looks like: what counts is where the connection would go."""

    async def send() -> tuple[NotSent | None, list[bytes]]:
        async with Server() as server:
            messenger = AppriseMessenger(deadline_s=PATIENCE_S)
            # The schemes with TLS, for the others are refused already.
            said = await messenger.send(f"gotifys://{host}:{server.port}/{TOKEN}", "t", "t")
            return said, server.asked

    said, asked = asyncio.run(send())

    assert said is not None
    assert said.trouble in (
        SendFailure.NOT_ALLOWED,
        SendFailure.UNREACHABLE,
    )  # some are no host at all
    assert asked == []


def test_a_name_that_leads_home_is_refused_at_the_connection() -> None:
    said = asyncio.run(
        AppriseMessenger(deadline_s=PATIENCE_S).send(f"gotifys://localhost:1/{TOKEN}", "t", "t")
    )

    assert said == NotSent(SendFailure.NOT_ALLOWED)


@pytest.mark.parametrize(
    "url", ["ntfys://localhost:1/t?mode=private", "mmosts://127.0.0.1:1/abcdefghijkl"]
)
def test_every_service_with_a_host_of_its_own_stands_behind_the_fence(url: str) -> None:
    assert asyncio.run(AppriseMessenger(deadline_s=PATIENCE_S).send(url, "t", "t")) == NotSent(
        SendFailure.NOT_ALLOWED
    )


@on_a_loop
async def test_a_redirect_is_not_followed() -> None:
    async with Server() as inner:

        async def redirect(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            where = f"http://127.0.0.1:{inner.port}/".encode()
            writer.write(
                b"HTTP/1.1 307 Go\r\nLocation: " + where + b"\r\nContent-Length: 0\r\n\r\n"
            )
            await writer.drain()

        async with Server(redirect) as server:
            said = await patient_messenger().send(server.gotify, "t", "t")

    assert said is not None
    assert inner.asked == []


@on_a_loop
async def test_who_drips_for_ever_is_cut_off_and_its_thread_comes_back() -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X-More: 1\r\n" if not writer.is_closing() else b"")
            await writer.drain()
            await asyncio.sleep(0.05)

    before = threading.active_count()
    async with Server(drip) as server:
        messenger = AppriseMessenger(reach=HOME, deadline_s=0.5, call_timeout_s=PATIENCE_S)
        said = await messenger.send(server.gotify, "t", "t")
        assert said == NotSent(SendFailure.TOO_SLOW)
        messenger.close()
        async with asyncio.timeout(30):
            while threading.active_count() > before:  # noqa: ASYNC110  # a thread tells no event
                await asyncio.sleep(0.02)


@pytest.mark.slow
@on_a_loop
async def test_more_that_hang_than_there_are_threads_hold_up_others_for_a_deadline() -> None:
    async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with Server(hang) as slow, Server() as quick:
        messenger = AppriseMessenger(reach=HOME, deadline_s=1, call_timeout_s=PATIENCE_S)
        hanging = [
            asyncio.create_task(messenger.send(slow.gotify, "t", "t")) for _ in range(AT_ONCE)
        ]
        await until(messenger._slots.locked)
        messenger._deadline_s = PATIENCE_S  # each of the others has its own by now
        async with asyncio.timeout(PATIENCE_S):
            said = await messenger.send(quick.gotify, "t", "t")
            assert said is None
            assert set(await asyncio.gather(*hanging)) == {NotSent(SendFailure.TOO_SLOW)}
        messenger.close()


@on_a_loop
async def test_an_address_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with Server(403) as server:
        messenger = patient_messenger()
        await messenger.send(server.gotify, "t", "t")
        await messenger.send(f"ntfys://tk_{TOKEN}@localhost:1/topic-{TOKEN}?mode=private", "t", "t")
        await messenger.check(f"tgram://{TOKEN}")

    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        *("syslog://", "dbus://", "windows://", "file:///etc/passwd", "json://localhost", ""),
        *("tgram://no-token", "workflows://h/w/s/?template=/etc/passwd"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_before_it_is_kept(url: str) -> None:
    messenger = AppriseMessenger(deadline_s=PATIENCE_S)

    assert not asyncio.run(messenger.check(url))


def test_an_address_that_can_be_used_is_known_without_a_connection() -> None:
    assert asyncio.run(
        AppriseMessenger(deadline_s=PATIENCE_S).check("ntfys://ntfy.invalid/topic?mode=private")
    )


@pytest.mark.parametrize("scheme", ["ntfy", "gotify", "matrix"])
@on_a_loop
async def test_a_message_without_tls_goes_to_no_public_address(scheme: str) -> None:
    """Where private addresses are allowed."""
    url = f"{scheme}://token@8.8.8.8/{TOKEN}"
    said = await patient_messenger().send(url, "t", "t")

    assert said == NotSent(SendFailure.NOT_ALLOWED)


# --- the fence by itself --------------------------------------------------------------------------


def test_code_that_speaks_tls_may_connect_to_a_public_address_and_other_code_may_not() -> None:
    plain, tls = Fence(reach=HOME, is_plain=True), Fence(reach=HOME)
    with inside(plain), pytest.raises(FenceViolation):
        plain.check_connect(("8.8.8.8", 80))
    with inside(tls):
        tls.check_connect(("8.8.8.8", 443))

    assert (plain.was_refused, tls.was_refused) == (True, False)


def test_no_file_but_those_of_its_modules_is_read_inside_the_fence(tmp_path: Path) -> None:
    secret = tmp_path / ".netrc"
    secret.write_text("machine x login y password z")

    with inside(Fence(reach=HOME)):
        Path(os.__file__).read_bytes()
        with pytest.raises(FenceViolation):
            secret.read_bytes()
        with pytest.raises(FenceViolation):
            (tmp_path / "new").write_bytes(b"")

    assert secret.read_text()


def test_no_program_is_started_inside_the_fence() -> None:
    with inside(Fence(reach=HOME)), pytest.raises(PermissionError):
        subprocess.run(["true"], check=False)


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET])
def test_nothing_of_this_machine_is_called_inside_the_fence(
    family: socket.AddressFamily, tmp_path: Path
) -> None:
    address = str(tmp_path / "s") if family == socket.AF_UNIX else ("127.0.0.1", 1)
    fence = Fence(reach=PUBLIC_ONLY)
    with inside(fence), socket.socket(family) as one, pytest.raises(FenceViolation):
        one.connect(address)

    assert fence.was_refused


def test_a_datagram_needs_no_connection_and_is_refused_all_the_same() -> None:
    with (
        inside(Fence(reach=PUBLIC_ONLY)),
        socket.socket(type=socket.SOCK_DGRAM) as one,
        pytest.raises(FenceViolation),
    ):
        one.sendto(b"x", ("127.0.0.1", 1))


def test_other_threads_have_no_fence() -> None:
    heard: list[object] = []

    def connect() -> None:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            with socket.create_connection(listening.getsockname()) as one:
                heard.append(one.getpeername())

    with inside(Fence(reach=PUBLIC_ONLY)):
        other = threading.Thread(target=connect)
        other.start()
        other.join(30)

    assert heard


def test_nothing_begins_when_the_time_is_up() -> None:
    fence = Fence(reach=HOME)
    with inside(fence):
        fence.end()
        with pytest.raises(TimeoutError):
            socket.socket()
