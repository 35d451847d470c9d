"""A person's connections: App Connections and Shared Connections.

Others' are treated as unknown.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.hub.connections import Connections, Shared, end_connection
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import own_printer
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.connections import Connection, ConnectionKind, ended_at, has_ended
from printreach.rules.printers import parse_printer_name
from printreach.store.store import Records

MAX_SHARED: Final = 50
"""Shared Connections in force for one printer."""
LIFETIMES: Final = {
    "1": timedelta(hours=1),
    "24": timedelta(days=1),
    "168": timedelta(days=7),
    "720": timedelta(days=30),
}
"""By the number of hours that the form sends; any other word means that it does not end."""

_WITH_PERMISSIONS: Final = frozenset({ConnectionKind.APP, ConnectionKind.SHARED})
_BAD_NAME: Final = Denied(Reason.INVALID, N_("Use up to 60 characters, none of them invisible."))
_NO_SUCH_CONNECTION: Final = Denied(
    Reason.NO_SUCH_CONNECTION, N_("There is no such connection in your account.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedConnection:
    """A connection as its owner sees it.

    title: the app's name, or whom a share is for; of a share without a name its kind.
    """

    connection: Connection
    title: str
    printer_name: str
    ended_at: datetime | None
    has_ended: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnConnections:
    """The use cases of the dashboard about connections."""

    core: Core
    connections: Connections

    async def all(self, account_id: str, kind: ConnectionKind) -> list[ListedConnection]:
        """Return the connections of that kind in force, newest first."""
        at = self.core.clock.now()

        async def look(records: Records) -> list[ListedConnection]:
            names = {
                printer.printer_id: printer.name
                for printer in await records.printers.of_account(account_id)
            }
            living = [
                connection
                for connection in reversed(await records.connections.of_account(account_id))
                if connection.kind is kind and not has_ended(connection, at)
            ]
            apps = await _names_of_apps(records, living)
            return [
                ListedConnection(
                    connection=connection,
                    title=apps.get(
                        connection.app_id or "",
                        connection.app_id or connection.name or N_("Shared"),
                    ),
                    printer_name=names.get(connection.printer_id or "", ""),
                    ended_at=ended_at(connection),
                    has_ended=has_ended(connection, at),
                )
                for connection in living
            ]

        return await self.core.store.read(look)

    async def one(self, account_id: str, connection_id: str) -> Connection | Denied:
        return await self.core.store.read(lambda records: _own(records, account_id, connection_id))

    async def printer_at_port(self, account_id: str, port: int) -> str | None:
        """Return the id of the account's printer whose own interface opens at a tunnel port."""
        living = await self.all(account_id, ConnectionKind.OWN)
        ids = [row.connection.printer_id for row in living if row.connection.port == port]
        return ids[0] if ids else None

    async def share(
        self,
        account_id: str,
        printer_id: str,
        hours: str,
        permissions: frozenset[Permission] = ALL_PERMISSIONS,
        name: str = "",
    ) -> Shared | Denied:
        """Create a Shared Connection.

        hours: a key of LIFETIMES. name: whom it is for, as it was typed; may be empty.
        """
        for_whom = parse_printer_name(name) if name.strip() else ""
        if for_whom is None:
            return _BAD_NAME
        at, lifetime = self.core.clock.now(), LIFETIMES.get(hours)

        async def share(records: Records) -> Shared | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            living = [
                connection
                for connection in await records.connections.of_printer(printer_id)
                if connection.kind is ConnectionKind.SHARED and not has_ended(connection, at)
            ]
            if len(living) >= MAX_SHARED:
                return Denied(
                    Reason.TOO_MANY_CONNECTIONS,
                    N_(
                        "%(name)s is shared %(living)s times; end one of them first.",
                        name=printer.name,
                        living=len(living),
                    ),
                )
            expires_at = None if lifetime is None else at + lifetime
            return await self.connections.add_shared_in(
                records, printer, expires_at, permissions, for_whom
            )

        return await self.core.store.write(share)

    async def permit(
        self, account_id: str, connection_id: str, permissions: frozenset[Permission]
    ) -> Connection | Denied:
        """Change the permissions of an App or Shared Connection of the account, on open streams
        too."""
        at = self.core.clock.now()

        async def permit(records: Records) -> Connection | Denied:
            connection = await _own(records, account_id, connection_id)
            if isinstance(connection, Denied):
                return connection
            if has_ended(connection, at) or connection.kind not in _WITH_PERMISSIONS:
                return _NO_SUCH_CONNECTION
            await records.connections.set_permissions(connection_id, permissions)
            await records.notify(Notice(Topic.CONNECTION, connection.unique_id), at)
            return replace(connection, permissions=permissions)

        return await self.core.store.write(permit)

    async def end(self, account_id: str, connection_id: str) -> Connection | Denied:
        """End a connection of the account; one that has ended stays so."""
        at = self.core.clock.now()

        async def end(records: Records) -> Connection | Denied:
            connection = await _own(records, account_id, connection_id)
            if isinstance(connection, Connection):
                await end_connection(records, connection, at)
            return connection

        return await self.core.store.write(end)


async def _names_of_apps(records: Records, connections: list[Connection]) -> dict[str, str]:
    """Return the names by id. Only these are looked up, since there may be many more apps."""
    app_ids = {connection.app_id for connection in connections if connection.app_id is not None}
    found = [await records.apps.get(app_id) for app_id in app_ids]
    return {app.app_id: app.name for app in found if app is not None}


async def _own(records: Records, account_id: str, connection_id: str) -> Connection | Denied:
    connection = await records.connections.get(connection_id)
    if connection is None or connection.account_id != account_id:
        return _NO_SUCH_CONNECTION
    return connection
