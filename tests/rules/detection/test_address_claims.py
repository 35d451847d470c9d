"""Claims on addresses: their owners, and their ends."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.rules.detection.address_claims import (
    CLAIM_LIFETIME,
    AddressClaim,
    claimable_network,
    claimed,
    is_anothers,
    is_live,
)
from tests.fakes.clock import NOON

INSTANT = timedelta(microseconds=1)
ADAS = AddressClaim(network="8.8.8.8", account_id="ada", claimed_at=NOON, used_at=NOON)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("8.8.8.8", "8.8.8.8"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("2a00:1450:4001:81b::200e", "2a00:1450:4001:81b::/64"),
        ("2a00:1450:4001:81b:ffff:ffff:ffff:ffff", "2a00:1450:4001:81b::/64"),
        ("2a00:1450:4001:81c::1", "2a00:1450:4001:81c::/64"),
    ],
)
def test_a_public_address_is_claimed_as_one_ipv4_or_one_ipv6_network_of_a_home(
    address: str, network: str
) -> None:
    assert claimable_network(address) == network


@pytest.mark.parametrize(
    "address",
    [
        *("", "unix", "8.8.8.8:443", "[::1]", "0x08080808", "134744072"),
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "100.64.0.1"),
        *("0.0.0.0", "255.255.255.255", "224.0.0.1", "240.0.0.1", "198.18.0.1", "203.0.113.9"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fd00::1", "ff02::1", "2001:db8::1"),
        *("::ffff:10.0.0.1", "::ffff:127.0.0.1"),
    ],
)
def test_no_private_loopback_or_reserved_address_is_ever_claimed(address: str) -> None:
    assert claimable_network(address) is None


@pytest.mark.parametrize(
    ("after", "is_kept"),
    [
        (timedelta(), True),
        (CLAIM_LIFETIME - INSTANT, True),
        (CLAIM_LIFETIME, False),
        (CLAIM_LIFETIME + INSTANT, False),
    ],
)
def test_a_claim_keeps_others_away_for_30_days_after_its_last_use(
    after: timedelta, is_kept: bool
) -> None:
    assert timedelta(days=30) == CLAIM_LIFETIME
    assert is_live(ADAS, NOON + after) is is_kept
    assert is_anothers(ADAS, "bob", NOON + after) is is_kept


def test_nobody_is_kept_away_by_no_claim_or_by_their_own() -> None:
    assert not is_anothers(None, "bob", NOON)
    assert not is_anothers(ADAS, "ada", NOON)


def test_a_call_from_a_free_address_claims_it() -> None:
    assert claimed(None, "8.8.8.8", "ada", NOON) == ADAS


def test_each_call_renews_the_claim_and_leaves_its_beginning() -> None:
    later = NOON + timedelta(days=29)

    assert claimed(ADAS, "8.8.8.8", "ada", later) == replace(ADAS, used_at=later)


def test_a_call_of_another_account_takes_no_claim_that_lives() -> None:
    assert claimed(ADAS, "8.8.8.8", "bob", NOON + CLAIM_LIFETIME - INSTANT) is None


def test_a_lapsed_claim_is_anybodys() -> None:
    at = NOON + CLAIM_LIFETIME

    assert claimed(ADAS, "8.8.8.8", "bob", at) == AddressClaim(
        network="8.8.8.8", account_id="bob", claimed_at=at, used_at=at
    )


def test_a_clock_that_goes_back_shortens_no_claim() -> None:
    assert claimed(ADAS, "8.8.8.8", "ada", NOON - timedelta(days=1)) == ADAS
