"""Dialling the service: why there is no tunnel, in a sentence."""

import asyncio
import ssl
from pathlib import Path

import pytest

from printreach.agent import service_link
from printreach.agent.addresses import parse_web_address
from printreach.agent.service_link import NotConnected, dial
from tests.agent.scripted_service import answering, scripted_service
from tests.fakes.loop import on_a_loop
from tests.rigs.certificates import self_signed
from tests.rigs.waiting import free_port


async def sentence_of(url: str) -> str:
    with pytest.raises(NotConnected) as refused:
        await dial(parse_web_address(url))
    return str(refused.value).replace(url, "URL")


@on_a_loop
async def test_a_service_that_agrees_is_connected() -> None:
    async with scripted_service() as service:
        link = await dial(parse_web_address(service.url))

        assert link.is_connected
        link.abort()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "URL opened no tunnel: it answered with status 404.",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "URL opened no tunnel: it answered with status 200.",
        ),
        (
            b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
            "URL opened no tunnel: it answered with status 502.",
        ),
        (
            b"HTTP/1.1 301 Moved\r\nLocation: https://print.example/\r\nContent-Length: 0\r\n\r\n",
            "URL sends us on to https://print.example/: give that address instead.",
        ),
        (
            b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
            "URL opened no tunnel: it answered with status 302.",
        ),
        (
            b"HTTP/1.1 308 Moved\r\nLocation: /\xe4" + b"y" * 1000 + b"\r\n\r\n",
            "URL sends us on to /?" + "y" * 198 + ": give that address instead.",
        ),
        (
            b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "URL opened no tunnel: it answered with status 101.",
        ),
        (b"", "URL closed the connection without an answer."),
    ],
)
def test_what_answers_but_opens_no_tunnel_is_told(answer: bytes, sentence: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with answering(answer) as url:
            assert await sentence_of(url) == sentence

    body()


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"x" * 100_000,
        b"HTTP/1.1 301 Moved\r\nLocation: \x1b[2J" + b"y" * 1000 + b"\r\n\r\n",
    ],
)
def test_what_speaks_no_http_is_told_in_words_fit_for_a_log(answer: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with answering(answer) as url:
            sentence = await sentence_of(url)

        assert sentence.startswith("URL opened no tunnel: ")
        assert sentence.isprintable()
        assert len(sentence) < 300

    body()


@on_a_loop
async def test_a_service_that_is_not_there_is_told() -> None:
    sentence = await sentence_of(f"http://127.0.0.1:{free_port()}")

    assert sentence == "No connection to URL: Connection refused."


@on_a_loop
async def test_a_name_that_no_name_server_could_have_is_told() -> None:
    sentence = await sentence_of("http://" + "x" * 70 + ".example")

    assert sentence.startswith("No connection to URL: ")


@on_a_loop
async def test_a_name_that_does_not_exist_is_told() -> None:
    sentence = await sentence_of("http://nowhere.invalid")

    assert sentence.startswith("No connection to URL: ")
    assert "name" in sentence.lower()


def test_a_service_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_link, "HANDSHAKE_TIMEOUT_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with answering(b"", hangs=True) as url:
            assert await sentence_of(url) in (
                "URL gave no answer within 0 s.",
                "URL closed the connection without an answer.",
            )

    body()


def test_a_certificate_that_nobody_vouches_for_is_told(tmp_path: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*self_signed(tmp_path, "127.0.0.1"))

    @on_a_loop
    async def body() -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        sentence = await sentence_of(f"https://127.0.0.1:{port}")
        server.close()

        assert sentence == "No connection to URL: TLS failed: self-signed certificate."

    body()


def test_a_service_that_speaks_no_tls_is_told() -> None:
    @on_a_loop
    async def body() -> None:
        async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        sentence = await sentence_of(f"https://127.0.0.1:{port}")
        server.close()

        assert sentence.startswith("No connection to URL: TLS failed: ")

    body()
