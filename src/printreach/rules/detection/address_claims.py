"""A detection key claims the public address of its calls for all keys of its account.

This prevents one place from getting many allowances by creating many accounts.
"""

import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.rules.rate_limits import IPV6_HOME_PREFIX

CLAIM_LIFETIME: Final = timedelta(days=30)
"""After this time without a call any account may claim the address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressClaim:
    """A claim. network: an IPv4 address, or the /64 of an IPv6 one, from `claimable_network`."""

    network: str
    account_id: str
    claimed_at: datetime
    used_at: datetime


def claimable_network(address: str) -> str | None:
    """Return what a call from that address claims; None if it is no public address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if not parsed.is_global or parsed.is_multicast or parsed.is_reserved:
        return None
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Network((int(parsed), IPV6_HOME_PREFIX), strict=False))


def is_live(claim: AddressClaim, at: datetime) -> bool:
    """Whether it still keeps others away; its last instant is excluded."""
    return at < claim.used_at + CLAIM_LIFETIME


def is_anothers(claim: AddressClaim | None, account_id: str, at: datetime) -> bool:
    """Whether the address is another account's."""
    return claim is not None and claim.account_id != account_id and is_live(claim, at)


def claimed(
    claim: AddressClaim | None, network: str, account_id: str, at: datetime
) -> AddressClaim | None:
    """Return the claim after a call of that account; None where it is another's.

    A clock may go back.
    """
    if is_anothers(claim, account_id, at):
        return None
    if claim is not None and claim.account_id == account_id and is_live(claim, at):
        return AddressClaim(
            network=network,
            account_id=account_id,
            claimed_at=claim.claimed_at,
            used_at=max(claim.used_at, at),
        )
    return AddressClaim(network=network, account_id=account_id, claimed_at=at, used_at=at)
