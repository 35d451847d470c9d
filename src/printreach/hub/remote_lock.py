"""An owner stops all prints and locks remote control, until they unlock it.

The lock is a time in the account's row, so it survives restarts. The relay holds it as it holds
permissions (rules.access): on every connection of the account, the dashboard's own included. Only
looking and pausing are left.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from printreach.contract.codec import encode
from printreach.contract.commands import CommandStatus, SetTemp
from printreach.contract.errors import ErrorCode
from printreach.contract.features import Feature
from printreach.contract.status import StatusResult
from printreach.contract.unset import UNSET
from printreach.hub.denied import Denied
from printreach.hub.identity.passkeys import Asked, Passkeys
from printreach.hub.identity.proof import Proof
from printreach.hub.identity.sessions import Visitor
from printreach.hub.live import read_status
from printreach.hub.post import Post
from printreach.ports import Clock, Notice, Records, Store, Topic
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.accounts import Account
from printreach.rules.printers import OwnedPrinter, Printer
from printreach.rules.rate_limits import TooSoon
from printreach.rules.sessions import Session

STOP_WITHIN_S: Final = 20.0
"""For one printer. Whoever stopped everything wants to know which printers to run to."""
AT_ONCE: Final = 50
"""Printers that are stopped beside one another."""
_NO_ANSWER: Final = f"It gave no answer in {STOP_WITHIN_S:.0f} seconds."
_UNREACHABLE: Final = frozenset(
    {
        ErrorCode.PRINTER_NOT_CONNECTED,
        ErrorCode.PRINTER_TIMED_OUT,
        CommandStatus.NOT_CONNECTED,
    }
)


class Stop(StrEnum):
    """What came of stopping one printer."""

    STOPPED = "stopped"
    NOTHING = "nothing"
    """No print was under way."""
    UNREACHABLE = "unreachable"
    FAILED = "failed"
    """It was reached, and did not stop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoppedPrinter:
    """One printer after all were stopped.

    sentence: why it was not stopped; "" where it was. heaters: what is wrong with switching its
    heaters off; "" where they are off or it was not reached.
    """

    printer_id: str
    name: str
    stop: Stop
    sentence: str = ""
    heaters: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteLock:
    """The use cases of the lock."""

    store: Store
    clock: Clock
    http: PrinterHttp
    proof: Proof
    passkeys: Passkeys
    post: Post

    async def stop_everything(self, account_id: str) -> list[StoppedPrinter]:
        """Lock remote control of the account, then stop every print on its printers, by name.

        Locked first, so that nobody starts again what was just stopped.
        """
        at = self.clock.now()
        await self.store.write(lambda records: lock(records, account_id, at))
        printers = await self.store.read(lambda records: records.printers.of_account(account_id))
        room = asyncio.Semaphore(AT_ONCE)
        stopping = [self._stop_in_turn(printer, room) for printer in printers]
        return await asyncio.gather(*stopping)

    async def unlock(
        self, account: Account, session: Session, password: str
    ) -> Denied | TooSoon | None:
        """Unlock by the password."""
        refused = await self.proof.of_owner(account, session, password)
        if refused is None:
            await self._unlock(account)
        return refused

    async def begin_passkey(self, account: Account, visitor: Visitor) -> Asked | TooSoon:
        """What the browser asks an authenticator to sign, to unlock."""
        return await self.passkeys.begin_proof(account, visitor)

    async def unlock_with_passkey(
        self, account: Account, step_token: str, answer: str
    ) -> Denied | None:
        """Unlock by a passkey of the account."""
        refused = await self.passkeys.prove(account, step_token, answer)
        if refused is None:
            await self._unlock(account)
        return refused

    async def _unlock(self, account: Account) -> None:
        at = self.clock.now()

        async def work(records: Records) -> None:
            await unlock(records, account.account_id, at)
            what = "Remote control of your printers was unlocked."
            await self.post.tell_of_security(records, account, what, at)

        await self.store.write(work)

    # --- one printer ------------------------------------------------------------------------------

    async def _stop_in_turn(self, printer: Printer, room: asyncio.Semaphore) -> StoppedPrinter:
        async with room:
            try:
                async with asyncio.timeout(STOP_WITHIN_S):
                    return await self._stop(printer)
            except TimeoutError:
                return _named(printer, Stop.FAILED, _NO_ANSWER)

    async def _stop(self, printer: Printer) -> StoppedPrinter:
        answer = await self.http.order(printer.owned, "/cancel", despite_lock=True)
        stop, sentence = _outcome(answer)
        if stop is Stop.UNREACHABLE:
            return _named(printer, stop, sentence)
        return _named(printer, stop, sentence, await self._heaters_off(printer.owned))

    async def _heaters_off(self, printer: OwnedPrinter) -> str:
        """A sentence, where a heater may still be on."""
        query = {"IncludeMaterialSystem": "true"}
        answer = await self.http.ask(printer, "/status", query, despite_lock=True)
        status = answer if isinstance(answer, PrinterRefusal) else read_status(answer)
        if isinstance(status, PrinterRefusal):
            return status.sentence
        for order in _orders_to_cool(status):
            arguments = encode(order)
            refused = await self.http.order(
                printer, "/set-temp", arguments=arguments, despite_lock=True
            )
            if isinstance(refused, PrinterRefusal):
                return refused.sentence
        return ""


async def lock(records: Records, account_id: str, at: datetime) -> None:
    """Inside a unit of work. An account that is locked keeps its time."""
    account = await records.accounts.get(account_id)
    if account is not None and not account.is_locked:
        await records.accounts.set_locked(account_id, at)
        await records.notify(Notice(Topic.ACCOUNT, account_id), at)


async def unlock(records: Records, account_id: str, at: datetime) -> None:
    """Inside a unit of work: all connections may do again what they could."""
    await records.accounts.set_locked(account_id, None)
    await records.notify(Notice(Topic.ACCOUNT, account_id), at)


def _outcome(answer: bytes | PrinterRefusal) -> tuple[Stop, str]:
    if not isinstance(answer, PrinterRefusal):
        return Stop.STOPPED, ""
    if answer.code == CommandStatus.INVALID_STATE:
        return Stop.NOTHING, ""
    is_away = answer.code in _UNREACHABLE
    return Stop.UNREACHABLE if is_away else Stop.FAILED, answer.sentence


def _orders_to_cool(status: StatusResult) -> Sequence[SetTemp]:
    """One for bed, chamber and the tool in use, where one of them is hot, and one each other tool.

    A printer that can't be told temperatures from afar is left to what its own cancelling does.
    """
    if Feature.TEMPERATURE_CONTROL not in Feature(status.features):
        return []
    temps = status.job_status.current_print.temps
    orders = []
    if temps.bed_target or temps.hotend_target or temps.chamber_target:
        chamber_c = 0.0 if temps.chamber_target else UNSET
        orders.append(SetTemp(bed_c=0.0, tool_c=0.0, chamber_c=chamber_c))
    materials = status.job_status.material_system
    tools = materials.tools if materials else []
    orders += [SetTemp(tool_c=0.0, tool_number=tool.index) for tool in tools if tool.target_celsius]
    return orders


def _named(printer: Printer, stop: Stop, sentence: str, heaters: str = "") -> StoppedPrinter:
    return StoppedPrinter(
        printer_id=printer.printer_id,
        name=printer.name,
        stop=stop,
        sentence=sentence,
        heaters=heaters,
    )
