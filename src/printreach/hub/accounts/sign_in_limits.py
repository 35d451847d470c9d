"""What tries are counted by at sign-in: a known device by itself, strangers together.

A limiter that strangers can use up never blocks a browser that signed in before.
"""

from dataclasses import dataclass

from printreach.hub.accounts.sessions import Visitor
from printreach.hub.core import Core
from printreach.rules.accounts import Account
from printreach.rules.accounts.known_devices import claimed_device, device_of
from printreach.rules.rate_limits import Limit, TooSoon, widest_network_of


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInLimits:
    """Limits by the caller's network, and separately on known devices."""

    core: Core

    async def of_caller(self, limit: Limit, visitor: Visitor) -> TooSoon | None:
        """Count one try that concerns only the caller: on a known device by its account.

        Not for what could be tried on others, since a person with many accounts has many devices.
        """
        return self.on_account(limit, visitor, await self._account_of_device(visitor))

    def on_account(self, limit: Limit, visitor: Visitor, account: Account | None) -> TooSoon | None:
        """Count one try on that account: by its own device, otherwise by the network."""
        if account is not None and device_of(visitor.device, account) is not None:
            return self.core.caller_tries.take(limit, f"account {account.account_id}")
        return self.core.caller_tries.take_by_address(limit, visitor.address)

    async def _account_of_device(self, visitor: Visitor) -> Account | None:
        claimed = claimed_device(visitor.device)
        if claimed is None:
            return None
        return await self.core.store.read(lambda records: records.accounts.get(claimed.account_id))


def counted_as(visitor: Visitor, account: Account | None, stranger: str) -> str:
    """Return what a try on an account counts for: the account's known device, or all strangers."""
    device = device_of(visitor.device, account)
    return stranger if device is None else f"device {device.device_id}"


def caller_of(visitor: Visitor, account: Account | None) -> str:
    """Return the known device of that account, or the caller's network."""
    return counted_as(visitor, account, widest_network_of(visitor.address))
