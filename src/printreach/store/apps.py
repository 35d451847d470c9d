"""Apps, as rows. One that was removed keeps its id, and nothing else."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, insert, select, update

from printreach.rules.apps import App
from printreach.rules.apps.registration import AppIdHolder, look_of
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import apps

_APP = columns_for(App, apps)
_IS_THERE = apps.c.removed_at.is_(None)


class AppRecords(TableRecords):
    """Registered apps."""

    async def add(self, app: App) -> None:
        """Add an app, also if one of that id was removed before."""
        returned = await self._connection.execute(
            update(apps)
            .where(apps.c.app_id == app.app_id, apps.c.removed_at.is_not(None))
            .values(**_values(app), removed_at=None)
        )
        if not returned.rowcount:
            await self._connection.execute(insert(apps).values(**_values(app)))

    async def put(self, app: App) -> None:
        """Replace the app with that id."""
        await self._connection.execute(
            update(apps).where(apps.c.app_id == app.app_id).values(**_values(app))
        )

    async def remove(self, app_id: str, at: datetime) -> None:
        """Remove the app. Its id stays reserved for its owner."""
        await self._connection.execute(
            update(apps)
            .where(apps.c.app_id == app_id, _IS_THERE)
            .values(
                removed_at=at,
                name="",
                look="",
                return_prefixes=[],
                logo_url=None,
                was_checked=False,
            )
        )

    async def get(self, app_id: str) -> App | None:
        found = await self._where(apps.c.app_id == app_id)
        return found[0] if found else None

    async def all(self) -> list[App]:
        return await self._where()

    async def of_owner(self, account_id: str) -> list[App]:
        return await self._where(apps.c.owner_id == account_id)

    async def holders(self, app_id: str) -> list[AppIdHolder]:
        """Return the apps with that id in any spelling of case, including removed ones."""
        found = await self._connection.execute(
            select(apps.c.owner_id, apps.c.removed_at).where(
                func.lower(apps.c.app_id) == app_id.lower()
            )
        )
        return [AppIdHolder(owner_id=row[0], is_removed=row[1] is not None) for row in found]

    async def others_look_like(self, name: str, owner_id: str) -> bool:
        """Return whether another owner's app looks the same to people: see look_of()."""
        alike = select(apps.c.app_id).where(
            apps.c.look == look_of(name), apps.c.owner_id.is_distinct_from(owner_id), _IS_THERE
        )
        return await self._exists(alike)

    async def ids_of_owner(self, account_id: str) -> int:
        """Return how many ids it has, including those of removed apps."""
        found = await self._connection.scalar(
            select(func.count()).select_from(apps).where(apps.c.owner_id == account_id)
        )
        return int(found or 0)

    async def _where(self, *conditions: ColumnElement[bool]) -> list[App]:
        return await self._all(
            _app, select(*_APP).where(_IS_THERE, *conditions).order_by(apps.c.app_id)
        )


def _values(app: App) -> dict[str, Any]:
    return {**asdict(app), "look": look_of(app.name)}


def _app(*, return_prefixes: list[str], **row: Any) -> App:
    # JSON has only lists; an immutable record holds a tuple.
    return App(**row, return_prefixes=tuple(return_prefixes))
