"""What the store keeps of those who call the failure-detection API."""

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
        """All that is to be known of one call, in one look; None for an unknown key.

        network: whose claim is looked up. month: whose calls of the account are counted.
        """
        ...

    async def of_account(self, account_id: str) -> list[DetectionKey]:
        """Disabled ones included, the newest first."""
        ...

    async def disable(self, key_id: str, at: datetime) -> None:
        """One that is disabled keeps its time."""
        ...

    async def note_use(self, key_id: str, at: datetime) -> None:
        """It was used then; what is noted never goes back."""
        ...

    async def forget(self, key_id: str) -> None: ...


class UsageRecords(Protocol):
    """Calls by key and UTC day. A day outlives its key."""

    async def add(self, key_id: str, day: date, calls: Calls) -> None:
        """On top of what there is. Nothing happens where there is no such key."""
        ...

    async def of_month(self, account_id: str, month: Month) -> list[DayOfUse]:
        """By day, then key."""
        ...

    async def months(self, account_id: str) -> Sequence[Month]:
        """In which there was any use, the newest first."""
        ...


class SwitchRecords(Protocol):
    """What accounts chose about paying."""

    async def get(self, account_id: str) -> Switches | None:
        """None where the account never chose."""
        ...

    async def put(self, account_id: str, switches: Switches) -> None: ...


class ClaimRecords(Protocol):
    """Public addresses that accounts call from."""

    async def get(self, network: str) -> AddressClaim | None: ...
    async def put(self, claim: AddressClaim) -> None:
        """In place of an earlier one of that network. Nothing happens for an unknown account."""
        ...

    async def all(self) -> list[AddressClaim]: ...
    async def release(self, network: str) -> bool:
        """Whether there was one."""
        ...

    async def forget(self, used_before: datetime) -> None: ...
