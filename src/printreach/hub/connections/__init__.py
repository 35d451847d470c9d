"""Connections: created for apps and for owners, listed, revoked."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import linked_printer
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.apps.registration import quota_reached
from printreach.rules.connections import Connection, ConnectionKind, choose_port, has_ended
from printreach.rules.connections.credentials import (
    AppSecrets,
    CredentialKind,
    digest,
    digests_of,
    new_app_secrets,
    new_record_id,
    new_secret,
    new_unique_id,
)
from printreach.rules.operators import Operator, OperatorAct
from printreach.rules.own_paths import HOME
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import Printer
from printreach.store.store import Records

OPEN_TICKET_LIFETIME: Final = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """A Shared Connection that was just created, with its secrets.

    link: signs a browser in without a password.
    """

    connection: Connection
    url: str
    link: str
    secrets: AppSecrets


@dataclass(frozen=True, kw_only=True, slots=True)
class Connections:
    """The use cases about connections. ports: those that connections get; may be empty."""

    core: Core
    ports: range

    async def add_for_app(
        self,
        app_id: str,
        printer_id: str,
        by: Operator | None = None,
        permissions: frozenset[Permission] = ALL_PERMISSIONS,
    ) -> Completion | Denied:
        """Create an App Connection; its secrets are in the answer and nowhere else."""
        at = self.core.clock.now()

        async def add(records: Records) -> Completion | Denied:
            made = await self.add_for_app_in(records, app_id, printer_id, permissions)
            if not isinstance(made, Denied):
                what = f"{app_id} to {printer_id}"
                act = OperatorAct.CONNECTION_ADDED
                await note(records, by, at, act, made.connection_id, what)
            return made

        return await self.core.store.write(add)

    async def add_for_app_in(
        self,
        records: Records,
        app_id: str,
        printer_id: str,
        permissions: frozenset[Permission],
    ) -> Completion | Denied:
        """Create an App Connection inside a unit of work."""
        at = self.core.clock.now()
        secrets = new_app_secrets(self.core.token_bytes)
        printer = await self._printer_for(records, app_id, printer_id, at)
        if isinstance(printer, Denied):
            return printer
        port = await self._take_port(records, printer, at)
        if isinstance(port, Denied):
            return port
        made = self._new(ConnectionKind.APP, printer, at, app_id=app_id, port=port)
        connection = replace(made, permissions=permissions)
        await records.connections.add(connection, digests_of(secrets))
        return Completion(
            connection_id=connection.connection_id,
            url=self.core.addresses.of_connection(connection),
            printer_name=printer.name,
            printer_page_url=self.core.addresses.of_printer_page(printer_id),
            printer_lan_ip=printer.lan_ip,
            secrets=secrets,
        )

    async def add_shared_in(
        self,
        records: Records,
        printer: Printer,
        expires_at: datetime | None,
        permissions: frozenset[Permission],
        name: str = "",
    ) -> Shared | Denied:
        """Create a Shared Connection; its secrets are in the answer and nowhere else."""
        port = await self._take_port(records, printer, self.core.clock.now())
        if isinstance(port, Denied):
            return port
        secrets = new_app_secrets(self.core.token_bytes)
        made = self._new(
            ConnectionKind.SHARED, printer, self.core.clock.now(), app_id=None, port=port
        )
        connection = replace(made, expires_at=expires_at, permissions=permissions, name=name)
        await records.connections.add(connection, digests_of(secrets))
        return Shared(
            connection=connection,
            url=self.core.addresses.of_connection(connection),
            link=self.core.addresses.of_shared_link(connection, secrets.bearer_token),
            secrets=secrets,
        )

    async def open_own(
        self,
        printer_id: str,
        by: Operator | None = None,
        *,
        account_id: str | None = None,
        session_id: str | None = None,
        printer_path: str = HOME,
    ) -> str | Denied:
        """Return a link that signs one browser in to the printer's own interface, once, for its
        owner.

        account_id: the printer has to belong to it; None where an operator may open any.
        session_id: of the browser that asks; when it signs out, it is signed out of the printer
        too. printer_path: where the link leads to there.

        An owner has one such connection for each printer and keeps it, so that the browser finds
        again what the printer's pages stored in it.
        """
        at = self.core.clock.now()
        ticket = new_secret(self.core.token_bytes)

        async def open_own(records: Records) -> str | Denied:
            printer = await linked_printer(records, printer_id, account_id)
            if isinstance(printer, Denied):
                return printer
            connection = await self._own(records, printer, at)
            if isinstance(connection, Denied):
                return connection
            await records.connections.add_open_ticket(
                connection.connection_id,
                digest(CredentialKind.OPEN_TICKET, ticket.encode()),
                at + OPEN_TICKET_LIFETIME,
                session_id,
            )
            await note(records, by, at, OperatorAct.PRINTER_OPENED, printer.name, printer_id)
            return self.core.addresses.of_open_ticket(connection, ticket, printer_path)

        return await self.core.store.write(open_own)

    async def all(self) -> list[Connection]:
        """Return every connection, including ended ones, oldest first."""
        return await self.core.store.read(lambda records: records.connections.all())

    async def revoke(self, connection_id: str, by: Operator | None = None) -> Connection | Denied:
        """End a connection; one that has ended stays so."""
        at = self.core.clock.now()

        async def revoke(records: Records) -> Connection | Denied:
            connection = await records.connections.get(connection_id)
            if connection is None:
                return Denied(
                    Reason.NO_SUCH_CONNECTION,
                    N_("There is no connection %(connection_id)s.", connection_id=connection_id),
                )
            await end_connection(records, connection, at)
            act = OperatorAct.CONNECTION_ENDED
            await note(records, by, at, act, connection_id, connection.app_id or "")
            return connection

        return await self.core.store.write(revoke)

    async def _printer_for(
        self, records: Records, app_id: str, printer_id: str, at: datetime
    ) -> Printer | Denied:
        """Return the printer if it may have another App Connection and the app exists."""
        app = await records.apps.get(app_id)
        if app is None:
            return Denied(Reason.NO_SUCH_APP, f"There is no app {app_id}.")
        printer = await linked_printer(records, printer_id)
        if isinstance(printer, Denied):
            return printer
        living = [
            connection
            for connection in await records.connections.of_printer(printer_id)
            if connection.kind is ConnectionKind.APP and not has_ended(connection, at)
        ]
        limits = await records.limits.in_force(printer.account_id)
        if len(living) >= limits.app_connections:
            return Denied(
                Reason.TOO_MANY_CONNECTIONS,
                N_(
                    "%(name)s has %(living)s App Connections, and no more are allowed; revoke one.",
                    name=printer.name,
                    living=len(living),
                ),
            )
        of_app = await records.connections.living_of_app(app_id, at)
        full = quota_reached(app, of_app, sum(connection.app_id == app_id for connection in living))
        return printer if full is None else Denied(Reason.TOO_MANY_CONNECTIONS, full)

    async def _take_port(
        self, records: Records, printer: Printer, at: datetime
    ) -> int | Denied | None:
        """Return a port for another connection, if necessary one of a connection that has ended."""
        if not self.ports:
            return None
        holders = await records.connections.with_port()
        port = choose_port(
            self.ports, holders, at, printer_id=printer.printer_id, account_id=printer.account_id
        )
        if port is None:
            return Denied(Reason.NO_PORT_LEFT, N_("All ports for connections are in use."))
        for holder in holders:
            if holder.port == port:
                await records.connections.release_port(port)
                await records.notify(Notice(Topic.CONNECTION, holder.unique_id), at)
        return port

    async def _own(self, records: Records, printer: Printer, at: datetime) -> Connection | Denied:
        """Return the owner's connection to the printer, at an address that is still configured."""
        of_printer = await records.connections.of_printer(printer.printer_id)
        own = [connection for connection in of_printer if connection.kind is ConnectionKind.OWN]
        kept = next((connection for connection in own if not has_ended(connection, at)), None)
        if kept is not None and self._has_address(kept):
            return kept
        port = await self._take_port(records, printer, at)
        if isinstance(port, Denied):
            return port
        if kept is None:
            made = self._new(ConnectionKind.OWN, printer, at, app_id=None, port=port)
            await records.connections.add(made, None)
        else:
            made = replace(kept, port=port)
            await records.connections.set_port(kept.connection_id, port)
        await records.notify(Notice(Topic.CONNECTION, made.unique_id), at)
        return made

    def _has_address(self, connection: Connection) -> bool:
        """Return False if ports were configured, left out or changed since it was created."""
        if connection.port is None:
            return not self.ports
        return connection.port in self.ports

    def _new(
        self,
        kind: ConnectionKind,
        printer: Printer,
        at: datetime,
        *,
        app_id: str | None,
        port: int | None,
    ) -> Connection:
        return Connection(
            connection_id=new_record_id(self.core.token_bytes),
            unique_id=new_unique_id(kind, self.core.token_bytes),
            kind=kind,
            app_id=app_id,
            printer_id=printer.printer_id,
            account_id=printer.account_id,
            port=port,
            created_at=at,
        )


async def end_connection(records: Records, connection: Connection, at: datetime) -> None:
    """End a connection, and tell the relay; one that has ended stays so."""
    await records.connections.revoke(connection.connection_id, at)
    await records.notify(Notice(Topic.CONNECTION, connection.unique_id), at)
