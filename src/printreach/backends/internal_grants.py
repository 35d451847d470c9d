"""The service's own grants, beside those that are stored."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TypeAlias

from printreach.ports import Agents, Clock, Grants
from printreach.rules.connections import ConnectionKind, Grant, Limits
from printreach.rules.internal_grants import (
    InternalKey,
    internal_digests,
    printer_of_internal_name,
)
from printreach.rules.printers import OwnedPrinter

LimitsOf: TypeAlias = Callable[[str], Awaitable[Limits]]
"""What the connections of an account may carry, by its id."""


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
        if not unique_id.startswith(f"{ConnectionKind.INTERNAL.value}-"):
            return await self._stored.grant(unique_id)
        printer_id = printer_of_internal_name(self._key, unique_id)
        return None if printer_id is None else await self._internal(unique_id, printer_id)

    async def unique_id_at_port(self, port: int) -> str | None:
        return await self._stored.unique_id_at_port(port)

    async def redeem_open_ticket(self, unique_id: str, ticket: str, at: datetime) -> str | None:
        return await self._stored.redeem_open_ticket(unique_id, ticket, at)

    async def connections_used(self, used: Mapping[str, datetime]) -> None:
        await self._stored.connections_used(used)

    async def _internal(self, unique_id: str, printer_id: str) -> Grant:
        printer = await self._agents.linked_printer(printer_id)
        account_id = printer.account_id if printer else ""
        return Grant(
            unique_id=unique_id,
            connection_id=unique_id,
            kind=ConnectionKind.INTERNAL,
            printer_id=printer_id,
            account_id=account_id,
            digests=internal_digests(
                self._key, OwnedPrinter(printer_id, account_id), self._clock.now()
            ),
            ended=printer is None or printer.is_blocked,
            expires_at=None,
            owner_is_supporter=True,
            limits=await self._limits_of(account_id),
        )
