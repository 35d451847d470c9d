"""The machine's own addresses, and those of others."""

import pytest

from printreach.backends.own_addresses import is_own_address


@pytest.mark.parametrize("address", ["127.0.0.1"])
def test_loopback_is_this_machine(address: str) -> None:
    assert is_own_address(address)


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "255.255.255.255"])
def test_what_is_elsewhere_or_nowhere_is_not(address: str) -> None:
    assert not is_own_address(address)
