"""Limits that operators decided, as rows."""

from dataclasses import asdict

from sqlalchemy import delete, insert, select

from printreach.rules.accounts.limits import (
    DEFAULT_ACCOUNT_LIMITS,
    NO_CHANGES,
    AccountLimits,
    LimitChanges,
    with_changes,
)
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import account_limits, service_limits

_OF_ACCOUNT = columns_for(LimitChanges, account_limits)
_OF_SERVICE = columns_for(LimitChanges, service_limits)
_ROW_ID = 1


class LimitRecords(TableRecords):
    """Limits that operators decided."""

    async def of_service(self) -> LimitChanges:
        found = await self._connection.execute(select(*_OF_SERVICE))
        row = found.mappings().first()
        return NO_CHANGES if row is None else LimitChanges(**row)

    async def of_account(self, account_id: str) -> LimitChanges:
        found = await self._connection.execute(
            select(*_OF_ACCOUNT).where(account_limits.c.account_id == account_id)
        )
        row = found.mappings().first()
        return NO_CHANGES if row is None else LimitChanges(**row)

    async def in_force(self, account_id: str) -> AccountLimits:
        """Return the limits in force for that account."""
        for_all = with_changes(DEFAULT_ACCOUNT_LIMITS, await self.of_service())
        return with_changes(for_all, await self.of_account(account_id))

    async def put_of_service(self, changes: LimitChanges) -> None:
        await self._connection.execute(delete(service_limits))
        await self._connection.execute(
            insert(service_limits).values(row_id=_ROW_ID, **asdict(changes))
        )

    async def put_of_account(self, account_id: str, changes: LimitChanges) -> None:
        await self._connection.execute(
            delete(account_limits).where(account_limits.c.account_id == account_id)
        )
        if changes != NO_CHANGES:
            await self._connection.execute(
                insert(account_limits).values(account_id=account_id, **asdict(changes))
            )
