"""The agent's own address on the local network."""

import ipaddress
from collections.abc import Iterable, Mapping

import pytest

from printreach.agent.addresses import find_lan_address


def found(
    towards: Iterable[str] = (),
    routes: Mapping[str, str] | None = None,
    interfaces: Iterable[str] = (),
) -> str | None:
    return find_lan_address(
        towards,
        source_towards=(routes or {}).get,
        interface_addresses=lambda: interfaces,
    )


def test_the_address_is_the_one_seen_from_the_printer() -> None:
    routes = {"192.168.1.30": "192.168.1.5", "192.0.2.1": "10.0.0.5"}

    assert found(["192.168.1.30"], routes) == "192.168.1.5"


def test_the_printer_is_a_better_witness_than_the_service() -> None:
    routes = {"192.168.1.30": "192.168.1.5", "10.1.1.1": "10.1.1.5"}

    assert found(["192.168.1.30", "10.1.1.1"], routes) == "192.168.1.5"


def test_a_printer_on_the_same_machine_is_no_witness() -> None:
    routes = {"127.0.0.1": "127.0.0.1", "192.0.2.1": "192.168.1.5"}

    assert found(["127.0.0.1"], routes) == "192.168.1.5"


def test_names_are_passed_over_since_resolving_them_takes_time() -> None:
    asked: list[str] = []

    def note(host: str) -> str | None:
        asked.append(host)
        return None

    find_lan_address(
        ["printreach.example", "10.0.0.1"], source_towards=note, interface_addresses=list
    )

    assert asked == ["10.0.0.1", "192.0.2.1", "2001:db8::1"]


def test_without_a_route_the_interfaces_are_asked() -> None:
    assert found(interfaces=["127.0.0.1", "192.168.7.2"]) == "192.168.7.2"


def test_without_any_network_there_is_loopback_or_nothing() -> None:
    assert found(interfaces=["127.0.0.1"]) == "127.0.0.1"
    assert found() is None


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("192.168.1.5", "203.0.113.5"),
        ("10.0.0.5", "100.64.0.5"),
        ("172.16.0.5", "2001:db8::5"),
        ("192.168.1.5", "169.254.1.5"),
        ("203.0.113.5", "2001:db8::5"),
        ("100.64.0.5", "fd00::5"),
        ("fd00::5", "fe80::5"),
        ("fd00::5", "169.254.1.5"),
        ("169.254.1.5", "127.0.0.1"),
        ("fe80::5", "::1"),
        ("169.254.1.5", "0.0.0.0"),
    ],
)
def test_a_private_ipv4_address_comes_first_and_loopback_last(better: str, worse: str) -> None:
    assert found(interfaces=[worse, better]) == better
    assert found(interfaces=[better, worse]) == better


def test_an_answer_that_is_no_address_is_passed_over() -> None:
    assert found(interfaces=["", "nonsense", "10.0.0.5"]) == "10.0.0.5"


def test_this_machine_has_an_address() -> None:
    address = find_lan_address(["127.0.0.1"]) or "none"

    assert str(ipaddress.ip_address(address)) == address
