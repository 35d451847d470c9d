"""The machines from which the agent fetches pictures that a platform names."""

import asyncio

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import WebcamEntry
from printreach.http1.messages import Answer, Call
from printreach.printers import camera_addresses as module
from printreach.printers.camera_addresses import CameraHosts, is_own_address
from printreach.printers.http_camera import HttpCamera
from printreach.printers.port import PrinterRefused
from tests.http1.serving import serving

PRINTER = "octopi.local"
NAMES = {
    PRINTER: ["192.168.1.20"],
    "voron.lan": ["192.168.1.20"],
    "router.lan": ["192.168.1.1"],
    "agent.lan": ["192.168.1.30"],
    "both.lan": ["192.168.1.1", "192.168.1.20"],
}
OWN = "192.168.1.30"


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local network with a printer, an agent's machine and a router."""

    async def resolve(host: str) -> list[str]:
        return NAMES.get(host, [host])

    monkeypatch.setattr(module, "_resolve", resolve)
    monkeypatch.setattr(module, "is_own_address", lambda address: address == OWN)


def asked_at(hosts: CameraHosts, host: str) -> str | None:
    """Return the address that the agent would connect to; None where it refuses."""
    try:
        return asyncio.run(hosts.address_of(host))
    except PrinterRefused:
        return None


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("octopi.local", "octopi.local"),
        ("OctoPi.local.", "OctoPi.local."),
        ("192.168.1.20", "192.168.1.20"),
        ("::ffff:192.168.1.20", "::ffff:192.168.1.20"),
        ("voron.lan", "192.168.1.20"),
        ("both.lan", "192.168.1.20"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("0.0.0.0", "0.0.0.0"),
        ("agent.lan", OWN),
    ],
)
def test_the_printer_and_the_agents_own_machine_are_asked(host: str, address: str) -> None:
    assert asked_at(CameraHosts(PRINTER), host) == address


@pytest.mark.parametrize(
    "host", ["router.lan", "192.168.1.1", "::ffff:192.168.1.1", "8.8.8.8", "fe80::1"]
)
def test_no_other_machine_is_asked(host: str) -> None:
    assert asked_at(CameraHosts(PRINTER), host) is None


@pytest.mark.parametrize(
    ("allowed", "host"),
    [
        ("router.lan", "router.lan"),
        ("Router.LAN", "router.lan"),
        ("192.168.1.1", "192.168.1.1"),
        ("192.168.1.1", "router.lan"),
        ("192.168.1.0/24", "router.lan"),
        ("fd00::/8", "fd00::7"),
    ],
)
def test_the_owner_of_the_agent_may_allow_others(allowed: str, host: str) -> None:
    assert asked_at(CameraHosts(PRINTER, [allowed]), host) is not None
    assert asked_at(CameraHosts(PRINTER, [allowed]), "8.8.8.8") is None


def test_a_refusal_names_the_host_and_the_option_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hosts = CameraHosts(PRINTER)
    with pytest.raises(PrinterRefused) as refused:
        asyncio.run(hosts.address_of("router.lan"))
    assert asked_at(hosts, "router.lan") is None

    assert refused.value.status == CommandStatus.NOT_CONNECTED
    assert "--camera-host router.lan" in refused.value.sentence
    assert len(caplog.records) == 1


def test_a_name_is_looked_up_once_and_its_address_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the second answer could be another one than the first, which was looked at."""
    answers = iter([["127.0.0.1"], ["192.168.1.1"]])
    looked_up: list[str] = []

    async def resolve(host: str) -> list[str]:
        looked_up.append(host)
        return next(answers)

    monkeypatch.setattr(module, "_resolve", resolve)
    seen: list[bytes] = []

    async def film(call: Call) -> Answer:
        seen.append(call.header(b"host") or b"")
        return Answer(body=b"\xff\xd8picture")

    async def body() -> None:
        async with serving(film) as server:
            url = f"http://rebinding.example:{server.port}/snapshot"
            camera = HttpCamera(
                WebcamEntry(name="x"), snapshot_url=url, stream_url=None, hosts=CameraHosts(PRINTER)
            )
            assert await camera.snapshot() == b"\xff\xd8picture"
            assert seen == [f"rebinding.example:{server.port}".encode()]

    asyncio.run(body())
    assert looked_up == ["rebinding.example"]


def test_an_address_of_this_machine_is_known_as_one() -> None:
    assert is_own_address("127.0.0.1")
    assert not is_own_address("192.0.2.1")
    assert not is_own_address("not an address")
