"""The lease of work that one worker at a time does, however many there are."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from printreach.hub.core import Core
from printreach.rules.connections.credentials import new_record_id
from printreach.store.leases import Claim, LeaseKind


@dataclass(kw_only=True, slots=True)
class TaskLease:
    """A worker's own view of it.

    name: of the work. lasts: how long after a claim. until: when this worker's last claim ends.
    is_alone: there is no other worker, so nothing is claimed.
    """

    core: Core
    name: str
    lasts: timedelta
    is_alone: bool = False
    until: datetime | None = field(init=False, default=None)
    _token: str = field(init=False)

    def __post_init__(self) -> None:
        self._token = new_record_id(self.core.token_bytes)

    async def claim(self) -> bool:
        """Claim the work, or renew the claim; False while another worker has it.

        Raises StoreUnavailable.
        """
        if self.is_alone:
            return True
        at, store = self.core.clock.now(), self.core.store
        claim = Claim(token=self._token, at=at, until=at + self.lasts, at_most=1)
        # A read does not wait for the writer, and most workers find it claimed.
        if await store.read(
            lambda records: records.leases.is_held_by_other(LeaseKind.TASK, self.name, claim)
        ):
            self.until = None
            return False
        claimed = await store.write(
            lambda records: records.leases.claim(LeaseKind.TASK, [self.name], claim),
            may_overlap=True,
        )
        self.until = claim.until if self.name in claimed else None
        return self.name in claimed

    async def release(self) -> None:
        """Leave the work to another worker at once. Raises StoreUnavailable."""
        self.until = None
        if not self.is_alone:
            await self.core.store.write(
                lambda records: records.leases.release(LeaseKind.TASK, self._token, [self.name]),
                may_overlap=True,
            )
