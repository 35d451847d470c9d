"""A proxy that the settings don't name, or that names no caller, is logged once."""

from ipaddress import ip_network

import pytest

from printreach.relay.caller_origin import is_untrusted_proxy
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay

FORWARDED = [(b"X-Forwarded-For", b"198.51.100.1")]
LOOPBACK = ip_network("127.0.0.0/8")


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "10.1.2.3", "fd00::2", "::ffff:172.17.0.1"])
def test_a_proxy_on_this_machine_or_in_a_private_network_is_noticed(peer: str) -> None:
    assert is_untrusted_proxy(peer, FORWARDED, [])
    assert is_untrusted_proxy(peer, [(b"forwarded", b"for=198.51.100.1")], [])
    assert not is_untrusted_proxy(peer, [(b"Accept", b"*/*")], [])


def test_an_operator_who_named_proxies_has_decided() -> None:
    assert not is_untrusted_proxy("10.0.0.1", FORWARDED, [LOOPBACK])


@pytest.mark.parametrize("peer", ["8.8.8.8", "2001:4860:4860::8888", "inside", ""])
def test_forwarding_fields_from_a_public_address_are_ignored(peer: str) -> None:
    assert not is_untrusted_proxy(peer, FORWARDED, [])


@on_a_loop
async def test_the_log_says_once_what_to_set(caplog: pytest.LogCaptureFixture) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        for line in (b"X-Forwarded-For: 198.51.100.1", b"Forwarded: for=198.51.100.2"):
            caller.send(request(OWN, line))
            assert (await caller.answer()).status == 200

    (record,) = [one for one in caplog.records if one.name.endswith("caller_origin")]
    assert record.levelname == "WARNING"
    assert "127.0.0.1" in record.getMessage()
    assert "PRINTREACH_TRUSTED_PROXIES" in record.getMessage()


@pytest.mark.parametrize(
    ("line", "header"),
    [
        (b"X-Forwarded-For: unknown", "X-Forwarded-For"),
        (b"X-Forwarded-Proto: https", "X-Forwarded-For"),
        (b"Forwarded: for=_hidden", "Forwarded"),
    ],
)
@on_a_loop
async def test_the_log_says_once_that_a_trusted_proxy_names_nobody(
    line: bytes, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with relay(networks=[LOOPBACK]) as rig, calling(rig.port) as caller:
        for _ in range(2):
            caller.send(request(OWN, line))
            assert (await caller.answer()).status == 200

    (record,) = [one for one in caplog.records if one.name.endswith("caller_origin")]
    assert record.levelname == "WARNING"
    assert f"127.0.0.1 writes no {header} header" in record.getMessage()


@on_a_loop
async def test_a_service_without_a_proxy_or_with_a_trusted_one_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        await caller.answer()
    async with relay(networks=[LOOPBACK]) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, b"X-Forwarded-For: 198.51.100.1"))
        await caller.answer()

    assert [one for one in caplog.records if one.name.endswith("caller_origin")] == []
