"""An owner stops all prints and locks remote control until they unlock it.

The lock is a time in the account's row, so it survives restarts. The relay enforces it as it
enforces permissions (rules.connections.permissions): on every connection of the account, including
the dashboard's own. Only reading and pausing are allowed then, and the owner's own order to stop a
print.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.accounts.passkeys import Passkeys
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.hub.printers.given_orders import GivenOrders
from printreach.hub.printers.stopping import PrinterStop, StopOutcome
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.ports.printer_http import PrinterHttp
from printreach.rules.accounts import Account
from printreach.rules.accounts.sessions import Session
from printreach.rules.printers import Printer
from printreach.rules.printers.commands import STOP_EVERYTHING
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records

AT_ONCE: Final = 50
"""Printers that are stopped at the same time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoppedPrinter:
    """The outcome for one printer after all were stopped."""

    printer_id: str
    name: str
    outcome: StopOutcome


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteLock:
    """The use cases of the lock."""

    core: Core
    http: PrinterHttp
    passkeys: Passkeys
    given_orders: GivenOrders

    async def stop_everything(self, account_id: str) -> list[StoppedPrinter]:
        """Lock remote control of the account, then stop every print; return the outcomes by name.

        The lock comes first, so that nobody starts again what was just stopped.
        """
        at = self.core.clock.now()
        await self.core.store.write(lambda records: lock(records, account_id, at))
        printers = await self.core.store.read(
            lambda records: records.printers.of_account(account_id)
        )
        slots = asyncio.Semaphore(AT_ONCE)
        stopping = [self._stop(printer, slots, at) for printer in printers]
        return await asyncio.gather(*stopping)

    async def unlock(
        self, account: Account, session: Session, password: str
    ) -> Denied | TooSoon | None:
        """Unlock with the password."""
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is None:
            await self._unlock(account)
        return refused

    async def unlock_with_passkey(
        self, account: Account, step_token: str, answer: str
    ) -> Denied | None:
        """Unlock with a passkey of the account."""
        refused = await self.passkeys.prove(account, step_token, answer)
        if refused is None:
            await self._unlock(account)
        return refused

    async def _unlock(self, account: Account) -> None:
        at = self.core.clock.now()

        async def work(records: Records) -> None:
            await unlock(records, account.account_id, at)
            what = N_("Remote control of your printers was unlocked.")
            await self.core.account_mailer.tell_of_security(records, account, what, at)

        await self.core.store.write(work)

    async def _stop(
        self, printer: Printer, slots: asyncio.Semaphore, at: datetime
    ) -> StoppedPrinter:
        """Stop one. at: when it was ordered, before the print ended, so that its page lists it."""
        stop = PrinterStop(self.http, printer.owned, slots)
        outcome = await stop.stop()
        if stop.has_acted:
            owner_id = printer.account_id
            await self.given_orders.note(owner_id, printer.owned, STOP_EVERYTHING, at=at)
        return StoppedPrinter(printer_id=printer.printer_id, name=printer.name, outcome=outcome)


async def lock(records: Records, account_id: str, at: datetime) -> None:
    """Lock, inside a unit of work. An account that is locked keeps its time."""
    account = await records.accounts.get(account_id)
    if account is not None and not account.is_locked:
        await records.accounts.set_locked(account_id, at)
        await records.notify(Notice(Topic.ACCOUNT, account_id), at)


async def unlock(records: Records, account_id: str, at: datetime) -> None:
    """Unlock, inside a unit of work: connections may do again what they could before."""
    await records.accounts.set_locked(account_id, None)
    await records.notify(Notice(Topic.ACCOUNT, account_id), at)
