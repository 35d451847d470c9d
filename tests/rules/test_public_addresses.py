"""Addresses that may be called at a stranger's request."""

from dataclasses import replace
from ipaddress import ip_address, ip_network

import pytest

from printreach.rules.public_addresses import (
    PRIVATE_NETWORKS,
    PUBLIC_ONLY,
    Reach,
    is_public,
    parse_ip_address,
)

HOME = Reach(networks=PRIVATE_NETWORKS)

FORBIDDEN = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255"),
    *("100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254"),
    *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1"),
    *("198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.255", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8"),
    *("64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1", "2001::1"),
    *("2001:0:53aa:64c::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1"),
    *("2002:808:808::1", "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254"),
    *("fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "ff0e::1", "2606:4700::1%1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1"]
PUBLIC_V6 = ["2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1", "2620:fe::fe"]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_what_the_internet_does_not_reach_is_not_called(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", [*PUBLIC, *PUBLIC_V6])
def test_what_everybody_reaches_may_be_called(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", FORBIDDEN)
def test_without_a_setting_only_public_addresses_are_called(address: str) -> None:
    assert not PUBLIC_ONLY.allows(ip_address(address), 443)
    assert PUBLIC_ONLY.allows(ip_address("8.8.8.8"), 443)


@pytest.mark.parametrize(
    "address",
    ["192.168.1.4", "10.0.0.1", "172.16.0.1", "100.64.0.1", "127.0.0.1", "fd00::1", "::1"],
)
def test_an_operator_may_allow_the_own_network_and_machine(address: str) -> None:
    assert HOME.allows(ip_address(address), 8123)


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "fe80::1", "fe80::1%eth0", "168.63.129.16", "100.100.100.200"),
        *("fd00:ec2::254", "fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"),
        *("224.0.0.1", "ff02::1", "0.0.0.0", "::", "255.255.255.255"),
    ],
)
def test_nobody_may_allow_metadata_of_a_cloud_or_what_is_no_single_machine(address: str) -> None:
    everything = Reach(networks=(ip_network("0.0.0.0/0"), ip_network("fc00::/6")))

    for reach in (HOME, everything):
        assert not reach.allows(ip_address(address), 80)


def test_an_operator_may_allow_some_networks_and_no_others() -> None:
    reach = Reach(networks=(ip_network("10.0.0.0/8"),))

    assert reach.allows(ip_address("10.1.2.3"), 80)
    assert not reach.allows(ip_address("192.168.1.4"), 80)
    assert not reach.allows(ip_address("127.0.0.1"), 80)


def test_public_addresses_are_called_with_tls_alone() -> None:
    for reach in (PUBLIC_ONLY, HOME):
        assert reach.allows(ip_address("8.8.8.8"), 443)
        assert not reach.allows(ip_address("8.8.8.8"), 80, is_plain=True)
    assert HOME.allows(ip_address("10.1.2.3"), 80, is_plain=True)


def test_the_service_calls_none_of_its_own_ports() -> None:
    reach = replace(HOME, own_ports=frozenset({8080}))

    assert not reach.allows(ip_address("127.0.0.1"), 8080)
    assert not reach.allows(ip_address("127.3.2.1"), 8080)
    assert not reach.allows(ip_address("192.168.1.4"), 8080, is_own=True)
    assert reach.allows(ip_address("192.168.1.5"), 8080)
    assert reach.allows(ip_address("127.0.0.1"), 8081)


def test_the_ports_of_what_the_service_relies_on_are_called_nowhere_in_private() -> None:
    reach = replace(HOME, backend_ports=frozenset({25}))

    assert not reach.allows(ip_address("127.0.0.1"), 25)
    assert not reach.allows(ip_address("10.0.0.9"), 25)
    assert reach.allows(ip_address("8.8.8.8"), 25)


@pytest.mark.parametrize("host", ["127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "fe80::1%1"])
def test_only_the_usual_spelling_is_an_address(host: str) -> None:
    assert parse_ip_address(host) is None
