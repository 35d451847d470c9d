"""The stored keys, usage, billing choices and address claims of the failure-detection API."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from printreach.rules.address_claims import AddressClaim
from printreach.rules.detection_access import DetectionCaller
from printreach.rules.detection_keys import DetectionKey
from printreach.rules.detection_usage import Calls, DayOfUse, Month, Switches


class DetectionKeyRecords(Protocol):
    """API keys, found by their digests."""

    async def add(self, key: DetectionKey, key_digest: bytes) -> None: ...
    async def get(self, key_id: str) -> DetectionKey | None: ...
    async def caller(
        self, key_digest: bytes, network: str | None, month: Month
    ) -> DetectionCaller | None:
        """Return all that is needed to decide on one call; None for an unknown key.

        network: whose claim is looked up. month: whose calls of the account are counted.
        """
        ...

    async def of_account(self, account_id: str) -> list[DetectionKey]:
        """Return the account's keys, including disabled ones, newest first."""
        ...

    async def disable(self, key_id: str, at: datetime) -> None:
        """Disable a key; one that is disabled keeps its time."""
        ...

    async def note_use(self, key_id: str, at: datetime) -> None:
        """Store when it was last used; an earlier time changes nothing."""
        ...

    async def forget(self, key_id: str) -> None: ...


class UsageRecords(Protocol):
    """Calls by key and UTC day. The count of a day outlives its key."""

    async def add(self, key_id: str, day: date, calls: Calls) -> None:
        """Add to the count. Does nothing if there is no such key."""
        ...

    async def of_month(self, account_id: str, month: Month) -> list[DayOfUse]:
        """Return the use of a month, by day, then key."""
        ...

    async def months(self, account_id: str) -> Sequence[Month]:
        """Return the months with any use, newest first."""
        ...


class SwitchRecords(Protocol):
    """What accounts chose about paying."""

    async def get(self, account_id: str) -> Switches | None:
        """Return the choice; None if the account never chose."""
        ...

    async def put(self, account_id: str, switches: Switches) -> None: ...


class ClaimRecords(Protocol):
    """Public networks that accounts call from."""

    async def get(self, network: str) -> AddressClaim | None: ...
    async def put(self, claim: AddressClaim) -> None:
        """Store a claim, in place of an earlier one of that network.

        Does nothing for an unknown account.
        """
        ...

    async def all(self) -> list[AddressClaim]: ...
    async def release(self, network: str) -> bool:
        """Release a claim; return whether there was one."""
        ...

    async def forget(self, used_before: datetime) -> None: ...
