"""Limits on the link codes that one address may ask for."""

from printreach.relay.link_code_limits import (
    BURST,
    MANY,
    REFILL_INTERVAL_S,
    TOTAL_BURST,
    LinkCodeLimiter,
)
from printreach.rules.printers.linking import LINK_CODE_LIFETIME

HERE = "203.0.113.7"


def taken(limiter: LinkCodeLimiter, address: str, now: float = 0.0, tries: int = 200) -> int:
    """How many codes the address gets when it asks again and again."""
    return sum(limiter.take(address, now) for _ in range(tries))


def test_a_burst_is_for_one_address_alone() -> None:
    limiter = LinkCodeLimiter(0.0)

    assert taken(limiter, HERE) == BURST
    assert taken(limiter, "203.0.113.8") == BURST


def test_as_many_agents_as_a_burst_has_can_be_supplied_for_ever() -> None:
    assert LINK_CODE_LIFETIME.total_seconds() <= BURST * REFILL_INTERVAL_S
    limiter = LinkCodeLimiter(0.0)
    assert taken(limiter, HERE) == BURST

    assert taken(limiter, HERE, REFILL_INTERVAL_S * 3) == 3
    assert taken(limiter, HERE, REFILL_INTERVAL_S * 3) == 0


def test_waiting_long_saves_up_no_more_than_a_burst() -> None:
    limiter = LinkCodeLimiter(0.0)
    taken(limiter, HERE)

    assert taken(limiter, HERE, 1e9) == BURST


def test_an_ipv6_customer_counts_once_however_many_addresses_it_uses() -> None:
    limiter = LinkCodeLimiter(0.0)

    assert sum(limiter.take(f"2001:db8::{number:x}", 0.0) for number in range(1000)) == BURST
    assert limiter.take("2001:db8:0:1::1", 0.0)


def test_a_customer_with_thousands_of_ipv6_networks_cannot_use_up_the_codes_of_all() -> None:
    limiter = LinkCodeLimiter(0.0)

    assert sum(limiter.take(f"2001:db8:0:{n:x}::1", 0.0) for n in range(65_536)) == 16 * BURST
    assert limiter.take(HERE, 0.0)


def test_an_ipv4_address_is_the_same_in_either_notation() -> None:
    limiter = LinkCodeLimiter(0.0)
    taken(limiter, HERE)

    assert not limiter.take("::ffff:203.0.113.7", 0.0)


def test_all_texts_that_are_no_address_count_as_one() -> None:
    limiter = LinkCodeLimiter(0.0)

    assert taken(limiter, "") + taken(limiter, "unknown") == BURST


def test_all_addresses_together_have_a_bound_too() -> None:
    limiter = LinkCodeLimiter(0.0)
    addresses = [f"10.{number // 256}.{number % 256}.1" for number in range(5000)]

    assert sum(limiter.take(address, 0.0) for address in addresses) == TOTAL_BURST


def test_an_address_that_asks_no_more_is_forgotten() -> None:
    limiter = LinkCodeLimiter(0.0)
    for number in range(5 * MANY):
        assert limiter.take(f"10.0.{number // 256}.{number % 256}", number * REFILL_INTERVAL_S)

    assert len(limiter) < MANY
