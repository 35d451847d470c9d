"""Every form of a private target is refused and not called, and so are the machine's addresses."""

import asyncio
import ssl

import pytest

from printreach.backends.lookups import is_own_address
from printreach.backends.webhook_http import WebhookHttp
from printreach.rules.public_addresses import PRIVATE_NETWORKS, PUBLIC_ONLY, Reach
from tests.backends.test_webhook_http import HEADERS, NAME
from tests.fakes.names import FakeLookup
from tests.rules.test_public_addresses import FORBIDDEN
from tests.rules.webhooks.test_urls import REFUSED

HOSTS = [f"[{one}]" if ":" in one else one for one in FORBIDDEN]
SPELLED = [*REFUSED, *(f"https://{host}/in" for host in HOSTS)]
URL = f"https://{NAME}/in"
TLS = ssl.create_default_context()
"""The same for all: to read the certificates that a machine trusts takes longer than a test."""


class NoWayOut:
    """An event loop from which nothing may be called; opened: what was tried."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[object] = []
        for name in ("create_connection", "sock_connect"):
            monkeypatch.setattr(asyncio.BaseEventLoop, name, self._refuse, raising=False)

    async def _refuse(self, *words: object, **_: object) -> object:
        self.opened.append(words)
        raise OSError("the test lets nothing out")


@pytest.fixture
def no_way_out(monkeypatch: pytest.MonkeyPatch) -> NoWayOut:
    return NoWayOut(monkeypatch)


def sender(*addresses: str) -> WebhookHttp:
    """addresses: what its name leads to."""
    return WebhookHttp(FakeLookup(hook_example=[list(addresses)]), PUBLIC_ONLY, tls=TLS)


@pytest.mark.parametrize("url", SPELLED)
def test_a_private_target_is_refused_as_it_is_set_and_as_it_is_called(
    url: str, no_way_out: NoWayOut
) -> None:
    problem = asyncio.run(sender().problem_with(url))
    outcome = asyncio.run(sender().send(url, HEADERS, b"{}"))

    assert problem is not None
    assert outcome.http_status is None
    assert outcome.error
    assert no_way_out.opened == []


@pytest.mark.parametrize("address", FORBIDDEN)
def test_a_name_for_a_private_address_is_refused_as_it_is_set_and_as_it_is_called(
    address: str, no_way_out: NoWayOut
) -> None:
    leading_home = sender("8.8.8.8", address)
    problem = asyncio.run(leading_home.problem_with(URL))
    outcome = asyncio.run(leading_home.send(URL, HEADERS, b"{}"))

    assert problem is not None
    assert outcome.http_status is None
    assert no_way_out.opened == []


def test_a_public_address_is_called_where_it_was_checked(no_way_out: NoWayOut) -> None:
    asyncio.run(sender("8.8.8.8").send(URL, HEADERS, b"{}"))

    [called] = no_way_out.opened
    assert isinstance(called, tuple)
    assert called[1:3] == ("8.8.8.8", 443)


def test_no_plain_webhook_leads_to_a_public_address_though_private_ones_are_allowed(
    no_way_out: NoWayOut,
) -> None:
    lookup = FakeLookup(hook_example=[["8.8.8.8"]])
    at_home = WebhookHttp(lookup, Reach(networks=PRIVATE_NETWORKS))
    url = f"http://{NAME}/in"

    problem = asyncio.run(at_home.problem_with(url))
    said = asyncio.run(at_home.send(url, HEADERS, b"{}"))

    assert problem is not None
    assert "https" in problem
    assert said.http_status is None
    assert no_way_out.opened == []


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "169.254.169.254"])
def test_no_webhook_leads_to_the_service_itself_or_to_metadata_though_private_ones_are_allowed(
    no_way_out: NoWayOut, address: str
) -> None:
    reach = Reach(networks=PRIVATE_NETWORKS, own_ports=frozenset({8080}))
    at_home = WebhookHttp(FakeLookup(hook_example=[[address]]), reach)
    url = "http://hook.example:8080/"

    said = asyncio.run(at_home.send(url, [], b"{}"))

    assert said.http_status is None
    assert asyncio.run(at_home.problem_with(url)) is not None
    assert no_way_out.opened == []


@pytest.mark.parametrize("address", ["127.0.0.1"])
def test_loopback_is_this_machine(address: str) -> None:
    assert is_own_address(address)


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "255.255.255.255"])
def test_what_is_elsewhere_or_nowhere_is_not(address: str) -> None:
    assert not is_own_address(address)
