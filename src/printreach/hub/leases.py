"""Leases: a long answer goes on only while its caller still has access.

A request is admitted once. Where its answer takes long (an upload, a webcam, a stream of events),
the session may end meanwhile, the account may be blocked, and the printer may get another owner.
Such a request holds a lease on the access that admitted it. The access is checked when the lease
begins, every 15 seconds, and as soon as a notice reports a change; when it is gone, the lease
cancels what runs under it. For traffic through the relay, relay.admission does the same.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from printreach.hub.accounts.access_tokens import AccessTokens
from printreach.hub.accounts.sessions import Sessions, Visitor
from printreach.hub.denied import Denied
from printreach.hub.printers.access import admitted_printer
from printreach.ports import Bus, Notice, Topic
from printreach.rules.accounts.access_tokens import Scope
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.members import Role
from printreach.store.store import Store

log = logging.getLogger(__name__)

T = TypeVar("T")

RENEWED_EVERY_S: Final = 15.0
"""Notices may be lost, so access is checked this often without one."""


class AccessEnded(Exception):
    """The caller is signed out, the account is blocked, or the token was revoked."""


class PrinterGone(AccessEnded):
    """The account may no longer use the printer as it did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What admitted a caller: a browser's session, or an access token that has `scope`.

    session, token: the secret; one of them is given. printer: one that the account has to be let
    in to as well, in that role.
    """

    account_id: str
    visitor: Visitor
    session: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    scope: Scope = Scope.READ_EVENTS
    printer: OwnedPrinter | None = None
    role: Role = Role.OWNER

    def to(self, printer: OwnedPrinter, role: Role = Role.OWNER) -> "Access":
        """Return the same access, as long as the account may do with that printer what the role
        may, and the printer keeps its owner.
        """
        return replace(self, printer=printer, role=role)


@dataclass(frozen=True, kw_only=True, slots=True)
class Leases:
    """Gives out leases. The holder of one renews it with a task of its own."""

    store: Store
    bus: Bus
    sessions: Sessions
    access_tokens: AccessTokens

    async def look(self, access: Access) -> None:
        """Check the access. Raises AccessEnded if it is gone."""
        if await self._account_id_of(access) != access.account_id:
            raise AccessEnded("the sign-in has ended")
        printer = access.printer
        if printer is None:
            return
        admitted = await self.store.read(
            lambda records: admitted_printer(
                records, access.account_id, printer.printer_id, access.role
            )
        )
        if isinstance(admitted, Denied):
            raise PrinterGone(admitted.sentence)
        if admitted.printer.owned != printer:
            raise PrinterGone("the printer has another owner")

    @asynccontextmanager
    async def hold(self, access: Access) -> AsyncIterator[None]:
        """Cancel what runs in the block when the access ends. Raises AccessEnded."""
        async with self._renewed(access) as lease, lease.held():
            yield

    async def pieces(
        self, access: Access, source: AsyncGenerator[T, None]
    ) -> AsyncGenerator[T, None]:
        """Yield the pieces of the source until the access ends. Raises AccessEnded, also between
        pieces.

        The source is closed with it.
        """
        async with aclosing(source), self._renewed(access) as lease:
            while True:
                async with lease.held():
                    piece = await _next(source)
                if piece is None:
                    return
                yield piece.value

    # --- helpers ----------------------------------------------------------------------------------

    async def _account_id_of(self, access: Access) -> str | None:
        if access.token is not None:
            token = await self.access_tokens.look_up(access.token, access.scope)
            return None if token is None else token.account_id
        if access.session is not None:
            found = await self.sessions.look_up(access.session, access.visitor)
            return None if found is None else found[0].account_id
        return None

    @asynccontextmanager
    async def _renewed(self, access: Access) -> AsyncIterator["_Lease"]:
        lease, changed = _Lease(), asyncio.Event()
        wanted = {Notice(Topic.ACCOUNT, access.account_id)}
        if access.printer is not None:
            wanted |= {
                Notice(Topic.PRINTER, access.printer.printer_id),
                Notice(Topic.ACCOUNT, access.printer.account_id),
            }
        unsubscribe = self.bus.subscribe(lambda _: changed.set(), *wanted)
        try:
            await self.look(access)
            renewing = asyncio.create_task(self._renew(access, lease, changed))
            try:
                yield lease
            finally:
                renewing.cancel()
                await asyncio.gather(renewing, return_exceptions=True)
        finally:
            unsubscribe()

    async def _renew(self, access: Access, lease: "_Lease", changed: asyncio.Event) -> None:
        while True:
            try:
                async with asyncio.timeout(RENEWED_EVERY_S):
                    await changed.wait()
            except TimeoutError:
                pass  # time to check again
            changed.clear()
            try:
                await self.look(access)
            except AccessEnded as ended:
                lease.end(ended)
                return
            # the store is unavailable: what runs goes on, and the next check decides
            except Exception:
                log.exception("could not check again whether a caller still has access")


class _Lease:
    """Cancels what is awaited under it, once."""

    def __init__(self) -> None:
        self._ended: AccessEnded | None = None
        self._waiting: asyncio.Timeout | None = None

    def end(self, why: AccessEnded) -> None:
        self._ended = why
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Run the block under the lease. Raises AccessEnded, even in the middle of an await."""
        self._look()
        try:
            async with asyncio.timeout(None) as self._waiting:
                yield
        except TimeoutError:
            self._look()
            raise
        finally:
            self._waiting = None

    def _look(self) -> None:
        if self._ended is not None:
            raise self._ended


@dataclass(frozen=True, slots=True)
class _Piece(Generic[T]):
    value: T


async def _next(source: AsyncGenerator[T, None]) -> _Piece[T] | None:
    """Return the next piece; None at the end. No StopAsyncIteration may pass a context manager."""
    try:
        return _Piece(await anext(source))
    except StopAsyncIteration:
        return None
