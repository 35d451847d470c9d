"""The addresses that apps and people are told."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from printreach.rules.addresses import Addresses, may_require_https
from printreach.rules.connections import Connection, ConnectionKind

ADDRESSES = Addresses(base_url="https://reach.example", tunnel_domain="tunnel.example:8443")
CONNECTION = Connection(
    connection_id="c1",
    unique_id="app-abc",
    kind=ConnectionKind.APP,
    app_id="demo",
    printer_id="p1",
    account_id="ada",
    port=None,
    created_at=datetime(2026, 5, 1, tzinfo=UTC),
)


def test_a_connection_is_a_host_under_the_tunnel_domain_with_the_services_scheme() -> None:
    assert ADDRESSES.of_connection(CONNECTION) == "https://app-abc.tunnel.example:8443"


def test_a_connection_with_a_port_is_told_by_that_port_of_the_services_host() -> None:
    local = replace(ADDRESSES, base_url="http://localhost:8080")

    assert local.of_connection(replace(CONNECTION, port=18000)) == "http://localhost:18000"


def test_an_ipv6_host_keeps_its_brackets() -> None:
    local = replace(ADDRESSES, base_url="http://[fd00::1]:8080")

    assert local.of_connection(replace(CONNECTION, port=18000)) == "http://[fd00::1]:18000"


def test_a_printers_page_is_on_the_service_itself() -> None:
    assert ADDRESSES.of_printer_page("p1") == "https://reach.example/printers/p1"


def test_the_link_that_opens_a_printer_is_on_its_own_host() -> None:
    link = ADDRESSES.of_open_ticket(CONNECTION, "abc")

    assert link == ("https://app-abc.tunnel.example:8443/service-command-api/open?ticket=abc")


@pytest.mark.parametrize("address", ["https://reach.example", "https://reach.example:443"])
def test_browsers_may_be_told_to_use_https_alone(address: str) -> None:
    assert may_require_https(address)


@pytest.mark.parametrize(
    "address", ["http://reach.example", "http://reach.example:443", "https://home.example:8443"]
)
def test_browsers_are_not_told_so_where_the_host_may_serve_others_by_http(address: str) -> None:
    assert not may_require_https(address)
