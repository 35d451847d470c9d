"""The connections of a relay under test, in memory."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from printreach.ports import Clock, StoreUnavailable
from printreach.ports.relaying import Agents
from printreach.rules.connections import DEFAULT_LIMITS, Grant
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.connections.internal_grants import (
    InternalKey,
    internal_grant,
    is_of_internal_kind,
    parse_internal_name,
)

COOKIE_LIFETIME = timedelta(hours=12)
SHARED_COOKIE_LIFETIME = timedelta(days=7)
INTERNAL_KEY = InternalKey(b"k" * 32)


class MemoryGrants:
    """ports.Grants.

    lookups: every name that was asked for. used: when each connection was, as it was told.
    is_broken: the store is away. agents: without them, the service itself
    reaches no printer. Between hold() and release() nothing is answered.
    """

    def __init__(self, clock: Clock, agents: Agents | None = None) -> None:
        self.lookups: list[str] = []
        self.used: dict[str, datetime] = {}
        self.is_broken = False
        self._may_answer = asyncio.Event()
        self._may_answer.set()
        self._told_late: asyncio.Event | None = None
        self._clock = clock
        self._agents = agents
        self._grants: dict[str, Grant] = {}
        self._ports: dict[int, str] = {}
        self._tickets: dict[str, tuple[str, datetime]] = {}
        self._cookies: dict[str, list[tuple[bytes, datetime]]] = {}

    # --- what a test does -------------------------------------------------------------------------

    def put(self, grant: Grant, *, port: int | None = None) -> None:
        self._grants[grant.unique_id] = grant
        if port is not None:
            self._ports[port] = grant.unique_id

    def hold(self) -> None:
        self._may_answer.clear()

    def release(self) -> None:
        self._may_answer.set()

    def hold_answer(self) -> Callable[[], None]:
        """Let the next look-up find what it finds now, and say so once the result is called."""
        self._told_late = asyncio.Event()
        return self._told_late.set

    def end(self, unique_id: str) -> None:
        """Revoke it."""
        self._grants[unique_id] = replace(self._grants[unique_id], ended=True)

    def add_open_ticket(self, unique_id: str, ticket: str, expires_at: datetime) -> None:
        self._tickets[ticket] = (unique_id, expires_at)

    def add_cookie(
        self, unique_id: str, secret: bytes, lifetime: timedelta = COOKIE_LIFETIME
    ) -> None:
        value = digest(CredentialKind.COOKIE, secret)
        expires_at = self._clock.now() + lifetime
        self._cookies.setdefault(unique_id, []).append((value, expires_at))

    # --- ports.Grants -----------------------------------------------------------------------------

    async def grant(self, unique_id: str) -> Grant | None:
        if self._agents is not None and is_of_internal_kind(unique_id):
            return await self._internal(self._agents, unique_id)
        await self._look(unique_id)
        grant = self._grants.get(unique_id)
        await self._be_late()
        cookies = self._cookies.get(unique_id)
        if grant is None or cookies is None:
            return grant
        now = self._clock.now()
        living = tuple(value for value, expires_at in cookies if now < expires_at)
        return replace(grant, digests=(*grant.digests, *living))

    async def _internal(self, agents: Agents, unique_id: str) -> Grant | None:
        name = parse_internal_name(INTERNAL_KEY, unique_id)
        if name is None:
            return None
        printer = await agents.linked_printer(name.printer_id)
        return internal_grant(INTERNAL_KEY, name, printer, DEFAULT_LIMITS, self._clock.now())

    async def unique_id_at_port(self, port: int) -> str | None:
        await self._look(str(port))
        unique_id = self._ports.get(port)
        await self._be_late()
        return unique_id

    async def redeem_open_ticket(self, unique_id: str, ticket: str, at: datetime) -> str | None:
        await self._look(unique_id)
        owner, expires_at = self._tickets.get(ticket, ("", at))
        if owner != unique_id or at >= expires_at or self._grants[unique_id].ended:
            return None
        del self._tickets[ticket]
        secret = f"cookie-for-{ticket}"
        self.add_cookie(unique_id, secret.encode())
        return secret

    async def add_shared_cookie(
        self, unique_id: str, at: datetime, current: str | None = None
    ) -> str | None:
        await self._look(unique_id)
        if self._grants[unique_id].ended:
            return None
        if current is not None and self._renew(unique_id, current.encode(), at):
            return current
        secret = f"cookie-{len(self._cookies.get(unique_id, []))}-of-{unique_id}"
        self.add_cookie(unique_id, secret.encode(), SHARED_COOKIE_LIFETIME)
        return secret

    def _renew(self, unique_id: str, secret: bytes, at: datetime) -> bool:
        value = digest(CredentialKind.COOKIE, secret)
        cookies = self._cookies.get(unique_id, [])
        if not any(one == value and at < expires_at for one, expires_at in cookies):
            return False
        others = [kept for kept in cookies if kept[0] != value]
        self._cookies[unique_id] = [*others, (value, at + SHARED_COOKIE_LIFETIME)]
        return True

    async def _be_late(self) -> None:
        if (late := self._told_late) is not None:
            self._told_late = None
            await late.wait()

    async def connections_used(self, used: Mapping[str, datetime]) -> None:
        if self.is_broken:
            raise StoreUnavailable("the store is away")
        self.used |= used

    async def _look(self, name: str) -> None:
        self.lookups.append(name)
        await self._may_answer.wait()
        if self.is_broken:
            raise StoreUnavailable("the store is away")
