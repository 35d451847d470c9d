"""The service's own grants, in addition to those that are stored."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TypeAlias

from printreach.ports import Clock
from printreach.ports.relaying import Agents, Grants
from printreach.rules.access import Access
from printreach.rules.connections import ConnectionKind, Grant, Limits
from printreach.rules.internal_grants import (
    InternalKey,
    InternalName,
    internal_digests,
    is_of_internal_kind,
    parse_internal_name,
)
from printreach.rules.linking import LinkedPrinter
from printreach.rules.printers import OwnedPrinter

LimitsOf: TypeAlias = Callable[[str], Awaitable[Limits]]
"""Returns the limits of an account's connections, by its id."""


class GrantsWithInternal:
    """ports.Grants."""

    def __init__(
        self,
        stored: Grants,
        agents: Agents,
        key: InternalKey,
        clock: Clock,
        limits_of: LimitsOf,
    ) -> None:
        self._stored = stored
        self._agents = agents
        self._key = key
        self._clock = clock
        self._limits_of = limits_of

    async def grant(self, unique_id: str) -> Grant | None:
        if not is_of_internal_kind(unique_id):
            return await self._stored.grant(unique_id)
        name = parse_internal_name(self._key, unique_id)
        return None if name is None else await self._internal(unique_id, name)

    async def unique_id_at_port(self, port: int) -> str | None:
        return await self._stored.unique_id_at_port(port)

    async def redeem_open_ticket(self, unique_id: str, ticket: str, at: datetime) -> str | None:
        return await self._stored.redeem_open_ticket(unique_id, ticket, at)

    async def add_shared_cookie(
        self, unique_id: str, at: datetime, current: str | None = None
    ) -> str | None:
        return await self._stored.add_shared_cookie(unique_id, at, current)

    async def connections_used(self, used: Mapping[str, datetime]) -> None:
        await self._stored.connections_used(used)

    async def _internal(self, unique_id: str, name: InternalName) -> Grant:
        printer_id = name.printer_id
        printer = await self._agents.linked_printer(printer_id)
        account_id = printer.account_id if printer else ""
        return Grant(
            unique_id=unique_id,
            connection_id=unique_id,
            kind=name.kind,
            printer_id=printer_id,
            account_id=account_id,
            digests=internal_digests(
                self._key, OwnedPrinter(printer_id, account_id), self._clock.now()
            ),
            ended=printer is None or printer.is_blocked,
            expires_at=None,
            owner_is_supporter=True,
            limits=await self._limits_of(account_id),
            access=_access(name.kind, printer),
        )


def _access(kind: ConnectionKind, printer: LinkedPrinter | None) -> Access:
    """Return what the service itself may do: a lock binds it too, except for stopping printers."""
    if kind is ConnectionKind.STOPPING:
        return Access(ignores_lock=True)
    return Access(is_locked=printer is not None and printer.is_locked)
