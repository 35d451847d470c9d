"""What is wrong on the way to the service is found, with real servers and certificates."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from printreach.run.doctor.findings import Finding, Verdict
from printreach.run.doctor.network import NetworkChecks, WebProbe
from printreach.run.settings import settings_from
from tests.rigs.certificates import LIFETIME, Authority
from tests.rigs.waiting import free_port

NAME = "service.test"
DOMAIN = "printers.test"
Lookup = Callable[[str], Sequence[str]]


def here(_: str) -> Sequence[str]:
    return ["127.0.0.1"]


def nowhere(_: str) -> Sequence[str]:
    raise OSError("Name or service not known")


def checks(
    look_up: Lookup = here,
    tls: ssl.SSLContext | None = None,
    at: datetime | None = None,
    **settings: str,
) -> NetworkChecks:
    async def find(host: str) -> Sequence[str]:
        return look_up(host)

    environ = {f"PRINTREACH_{name}": value for name, value in settings.items()}
    return NetworkChecks(
        settings=settings_from(environ),
        environ=environ,
        probe=WebProbe(look_up=find, tls=tls or ssl.create_default_context()),
        unused_label="unused",
        at=at or datetime.now(UTC),
    )


@asynccontextmanager
async def web_server(
    answers: dict[str, int], certificate: tuple[Path, Path] | None = None
) -> AsyncIterator[int]:
    """Run one that answers by these statuses of its hosts; give its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.read(4096)).decode("latin-1")
        host = head.partition("Host: ")[2].partition(":")[0].partition("\r\n")[0]
        status = answers.get(host, 404)
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    tls = None
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


def test_a_host_without_an_address_is_found() -> None:
    found = asyncio.run(checks(nowhere, BASE_URL=f"https://{NAME}").dns())
    assert found.verdict is Verdict.FAILURE
    assert found.sentence == f"{NAME} has no address."


@pytest.mark.parametrize(
    "url", ["http://localhost:8080", "http://192.0.2.1", "http://[2001:db8::1]"]
)
def test_localhost_and_addresses_need_no_dns(url: str) -> None:
    found = asyncio.run(checks(nowhere, BASE_URL=url).dns())

    assert found.verdict is Verdict.OK


def test_a_missing_wildcard_is_found() -> None:
    found = asyncio.run(checks(nowhere, TUNNEL_DOMAIN=DOMAIN).wildcard())
    assert found.verdict is Verdict.FAILURE
    assert f"*.{DOMAIN}" in found.advice


def test_a_wildcard_that_leads_to_another_machine_is_found() -> None:
    async def find() -> Finding:
        of_hosts = {f"unused.{DOMAIN}": ["192.0.2.1"], NAME: ["192.0.2.2"]}
        return await checks(
            of_hosts.__getitem__, BASE_URL=f"https://{NAME}", TUNNEL_DOMAIN=DOMAIN
        ).wildcard()

    found = asyncio.run(find())
    assert found.verdict is Verdict.WARNING
    assert f"Names below {DOMAIN} lead to 192.0.2.1, and {NAME} to 192.0.2.2." == found.sentence


@pytest.mark.parametrize(
    ("name", "value"), [("TUNNEL_PORTS", "18000-18009"), ("TUNNEL_DOMAIN", "localhost:8080")]
)
def test_ports_and_localhost_need_no_wildcard(name: str, value: str) -> None:
    found = asyncio.run(checks(nowhere, None, None, **{name: value}).wildcard())

    assert found.verdict is Verdict.OK


def test_a_setting_that_leads_links_elsewhere_is_found() -> None:
    found = asyncio.run(checks(BASE_URL=f"https://{NAME}").addresses())
    assert found.verdict is Verdict.WARNING
    assert "PRINTREACH_TUNNEL_DOMAIN" in found.sentence


def certificate_of(folder: Path, *names: str, at: datetime | None = None) -> Finding:
    """What is found of a server whose certificate has these names, by whom who trusts its root."""
    authority = Authority(folder)
    issued = authority.issue(*names)

    async def find() -> Finding:
        async with web_server({}, issued) as port:
            return await checks(
                here,
                ssl.create_default_context(cafile=str(authority.root)),
                at,
                BASE_URL=f"https://{NAME}:{port}",
                TUNNEL_DOMAIN=f"{DOMAIN}:{port}",
            ).certificate()

    return asyncio.run(find())


def test_a_certificate_that_lasts_is_fine(tmp_path: Path) -> None:
    long_ago = datetime.now(UTC) + LIFETIME - timedelta(days=15)
    found = certificate_of(tmp_path, NAME, f"*.{DOMAIN}", at=long_ago)

    assert found.verdict is Verdict.OK


def test_a_certificate_that_expires_soon_is_found(tmp_path: Path) -> None:
    found = certificate_of(tmp_path, NAME, f"*.{DOMAIN}")

    assert found.verdict is Verdict.WARNING
    assert f"expires on {datetime.now(UTC) + LIFETIME:%Y-%m-%d}" in found.sentence


def test_a_certificate_without_the_wildcard_is_found(tmp_path: Path) -> None:
    found = certificate_of(tmp_path, NAME)

    assert found.verdict is Verdict.FAILURE
    assert f"for unused.{DOMAIN} isn't valid" in found.sentence


def test_a_certificate_of_nobody_who_is_trusted_is_found(tmp_path: Path) -> None:
    async def find() -> Finding:
        async with web_server({}, Authority(tmp_path).issue(NAME)) as port:
            return await checks(BASE_URL=f"https://{NAME}:{port}").certificate()

    found = asyncio.run(find())
    assert found.verdict is Verdict.FAILURE
    assert f"The certificate for {NAME} isn't valid" in found.sentence


def test_a_server_without_tls_is_found() -> None:
    async def find() -> Finding:
        async with web_server({}) as port:
            return await checks(BASE_URL=f"https://{NAME}:{port}").certificate()

    found = asyncio.run(find())
    assert found.verdict is Verdict.FAILURE
    assert f"There is no TLS at {NAME}" in found.sentence


def test_a_service_by_http_is_warned_of_unless_it_is_on_this_machine() -> None:
    async def find(url: str) -> Finding:
        return await checks(BASE_URL=url).certificate()

    assert asyncio.run(find("http://localhost:8080")).verdict is Verdict.OK
    assert asyncio.run(find(f"http://{NAME}")).verdict is Verdict.WARNING


@pytest.mark.parametrize(("status", "verdict"), [(200, Verdict.OK), (502, Verdict.FAILURE)])
def test_the_service_is_asked_by_its_public_address(status: int, verdict: Verdict) -> None:
    async def find() -> Finding:
        async with web_server({NAME: status}) as port:
            return await checks(BASE_URL=f"http://{NAME}:{port}").service()

    assert asyncio.run(find()).verdict is verdict


def test_a_service_that_does_not_run_is_found() -> None:
    found = asyncio.run(checks(BASE_URL=f"http://{NAME}:{free_port()}").service())
    assert found.verdict is Verdict.FAILURE
    assert "can't be reached" in found.sentence


@pytest.mark.parametrize(("status", "verdict"), [(603, Verdict.OK), (200, Verdict.FAILURE)])
def test_hosts_of_connections_have_to_come_to_the_relay(status: int, verdict: Verdict) -> None:
    async def find() -> Finding:
        async with web_server({f"unused.{DOMAIN}": status}) as port:
            return await checks(
                BASE_URL=f"http://{NAME}", TUNNEL_DOMAIN=f"{DOMAIN}:{port}"
            ).printer_hosts()

    assert asyncio.run(find()).verdict is verdict
