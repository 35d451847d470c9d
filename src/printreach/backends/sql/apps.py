"""Apps, as rows."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.backends.sql.columns import columns_for
from printreach.backends.sql.tables import apps
from printreach.rules.apps import App

_APP = columns_for(App, apps)


class AppRows:
    """ports.AppRecords in one unit of work."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, app: App) -> None:
        await self._connection.execute(insert(apps).values(**asdict(app)))

    async def get(self, app_id: str) -> App | None:
        found = await self._connection.execute(select(*_APP).where(apps.c.app_id == app_id))
        row = found.mappings().first()
        return None if row is None else _app(row)

    async def all(self) -> list[App]:
        found = await self._connection.execute(select(*_APP).order_by(apps.c.app_id))
        return [_app(row) for row in found.mappings()]


def _app(row: Mapping[Any, Any]) -> App:
    # JSON knows lists alone; a record that cannot change holds a tuple.
    return App(**{**row, "return_prefixes": tuple(row["return_prefixes"])})
