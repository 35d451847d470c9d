"""Who is counted where when somebody signs in: a known device by itself, strangers together.

A limiter that strangers can use up never stands in the way of a browser that signed in before.
"""

from dataclasses import dataclass

from printreach.hub.identity.sessions import Visitor
from printreach.hub.tries import CallerTries
from printreach.ports import Store
from printreach.rules.accounts import Account
from printreach.rules.devices import claimed_device, device_of
from printreach.rules.rate_limits import Limit, TooSoon, widest_network_of


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInLimits:
    """The limiters of what is counted by a caller's network, and apart from it on known devices."""

    store: Store
    caller_tries: CallerTries

    async def of_caller(self, limit: Limit, visitor: Visitor) -> TooSoon | None:
        """Make one try that can be about nobody else: on a known device as its account.

        Not for what could be tried on others, for whoever has many accounts has many devices.
        """
        return self.on_account(limit, visitor, await self._account_of_device(visitor))

    def on_account(self, limit: Limit, visitor: Visitor, account: Account | None) -> TooSoon | None:
        """Make one try on that account: on a device of its own as that, else as the network."""
        if account is not None and device_of(visitor.device, account) is not None:
            return self.caller_tries.take(limit, f"account {account.account_id}")
        return self.caller_tries.take_by_address(limit, visitor.address)

    async def _account_of_device(self, visitor: Visitor) -> Account | None:
        claimed = claimed_device(visitor.device)
        if claimed is None:
            return None
        return await self.store.read(lambda records: records.accounts.get(claimed.account_id))


def counted_as(visitor: Visitor, account: Account | None, stranger: str) -> str:
    """For whom a try at an account counts: the account's known device, or all strangers."""
    device = device_of(visitor.device, account)
    return stranger if device is None else f"device {device.device_id}"


def caller_of(visitor: Visitor, account: Account | None) -> str:
    """The known device of that account, or the network that the caller comes from."""
    return counted_as(visitor, account, widest_network_of(visitor.address))
