"""The client over TLS, to servers with self-signed certificates."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from printreach.http1.client import Client, ExchangeFailure
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import GET, OK, Heard, Talk, scripted_server
from tests.rigs.certificates import self_signed


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("certificate"), "printer.local")


@asynccontextmanager
async def talk_over_tls(
    certificate: tuple[Path, Path], *, trusting: bool = True
) -> AsyncIterator[Talk]:
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(*certificate)
    client_side = ssl.create_default_context()
    if trusting:
        client_side.check_hostname = False
        client_side.verify_mode = ssl.CERT_NONE
    loop = asyncio.get_running_loop()
    async with scripted_server(tls=server_side) as server:
        client = Client(
            lambda protocol: loop.create_connection(
                protocol, "127.0.0.1", server.port, ssl=client_side
            )
        )
        try:
            yield Talk(client, server)
        finally:
            await client.close()


def test_questions_and_answers_travel_over_tls_and_its_connection_is_kept(
    certificate: tuple[Path, Path],
) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk_over_tls(certificate) as at:
            first, _ = at.ask()
            accepted = await at.server.accept()
            assert await accepted.answer() == GET
            assert (await first.until_over()).body == b"hello"

            second, _ = at.ask()
            assert await accepted.answer() == GET
            assert (await second.until_over()).body == b"hello"
            assert at.server.accepted == 1

    body()


def test_an_answer_without_length_ends_with_the_connection(certificate: tuple[Path, Path]) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk_over_tls(certificate) as at:
            heard, _ = at.ask()
            accepted = await at.server.accept()
            await accepted.answer(b"HTTP/1.0 200 OK\r\n\r\nhello")
            accepted.close()

            assert (await heard.until_over()).body == b"hello"
            assert heard.failures == []

    body()


def test_cancelling_closes_the_servers_side(certificate: tuple[Path, Path]) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk_over_tls(certificate) as at:
            _, exchange = at.ask()
            accepted = await at.server.accept()
            await accepted.answer(OK[:-1])
            exchange.cancel()

            await accepted.end()

    body()


def test_cancelling_in_the_handshake_closes_the_servers_side() -> None:
    @on_a_loop
    async def body() -> None:
        loop = asyncio.get_running_loop()
        async with scripted_server() as server:
            client = Client(
                lambda protocol: loop.create_connection(
                    protocol, "127.0.0.1", server.port, ssl=ssl.create_default_context()
                )
            )
            exchange = client.request(Heard(), b"GET", GET)
            accepted = await server.accept()
            assert await accepted.receive(1) == b"\x16"  # a TLS handshake's first byte
            exchange.cancel()

            await accepted.end()

    body()


def test_an_untrusted_certificate_is_named_as_the_reason(
    certificate: tuple[Path, Path],
) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk_over_tls(certificate, trusting=False) as at:
            heard, _ = at.ask()

            await heard.until_over()
            ((failure, sentence),) = heard.failures
            assert failure is ExchangeFailure.UNREACHABLE
            assert sentence == "TLS failed: self-signed certificate"

    body()


def test_a_server_that_speaks_no_tls_is_unreachable_with_a_reason() -> None:
    @on_a_loop
    async def body() -> None:
        loop = asyncio.get_running_loop()
        async with scripted_server() as server:
            client = Client(
                lambda protocol: loop.create_connection(
                    protocol, "127.0.0.1", server.port, ssl=ssl.create_default_context()
                )
            )
            heard = Heard()
            client.request(heard, b"GET", GET)
            (await server.accept()).send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

            await heard.until_over()
            ((failure, sentence),) = heard.failures
            assert failure is ExchangeFailure.UNREACHABLE
            assert sentence.startswith("TLS failed: ")

    body()
