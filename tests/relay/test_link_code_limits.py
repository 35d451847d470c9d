"""Limits on the link codes that one address may ask for."""

from datetime import timedelta

from printreach.hub.tries import CallerTries
from printreach.relay.unsigned_agents import LINK_CODES, LINK_CODES_BY_NETWORK, may_get_link_code
from printreach.rules.printers import LINK_CODE_LIFETIME
from tests.fakes.clock import FakeClock

HERE = "203.0.113.7"
BURST = LINK_CODES_BY_NETWORK.at_once


def taken(tries: CallerTries, address: str) -> int:
    """How many codes the address gets when it asks again and again."""
    return sum(may_get_link_code(tries, address) for _ in range(200))


def test_a_burst_is_for_one_address_alone() -> None:
    tries = CallerTries(FakeClock())

    assert taken(tries, HERE) == BURST
    assert taken(tries, "203.0.113.8") == BURST


def test_as_many_agents_as_a_burst_has_can_be_supplied_for_ever() -> None:
    assert BURST * LINK_CODES_BY_NETWORK.every >= LINK_CODE_LIFETIME
    clock = FakeClock()
    tries = CallerTries(clock)
    assert taken(tries, HERE) == BURST

    clock.advance(3 * LINK_CODES_BY_NETWORK.every)

    assert taken(tries, HERE) == 3
    assert taken(tries, HERE) == 0


def test_waiting_long_saves_up_no_more_than_a_burst() -> None:
    clock = FakeClock()
    tries = CallerTries(clock)
    taken(tries, HERE)

    clock.advance(timedelta(days=365))

    assert taken(tries, HERE) == BURST


def test_an_ipv6_customer_counts_once_however_many_addresses_it_uses() -> None:
    tries = CallerTries(FakeClock())

    assert sum(may_get_link_code(tries, f"2001:db8::{number:x}") for number in range(1000)) == BURST
    assert may_get_link_code(tries, "2001:db8:0:1::1")


def test_a_customer_with_thousands_of_ipv6_networks_cannot_use_up_the_codes_of_all() -> None:
    tries = CallerTries(FakeClock())
    networks = (f"2001:db8:0:{number:x}::1" for number in range(0, 65_536, 16))

    assert sum(may_get_link_code(tries, network) for network in networks) == 16 * BURST
    assert may_get_link_code(tries, HERE)


def test_an_ipv4_address_is_the_same_in_either_notation() -> None:
    tries = CallerTries(FakeClock())
    taken(tries, HERE)

    assert not may_get_link_code(tries, "::ffff:203.0.113.7")


def test_all_texts_that_are_no_address_count_as_one() -> None:
    tries = CallerTries(FakeClock())

    assert taken(tries, "") + taken(tries, "unknown") == BURST


def test_all_addresses_together_have_a_bound_too() -> None:
    tries = CallerTries(FakeClock())
    addresses = [f"10.{number // 256}.{number % 256}.1" for number in range(5000)]

    assert sum(may_get_link_code(tries, address) for address in addresses) == LINK_CODES.at_once
