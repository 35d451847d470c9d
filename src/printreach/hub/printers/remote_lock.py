"""An owner stops all prints and locks remote control until they unlock it.

One printer is stopped for good: its print, a start that is under way, and its heaters. One look is
not enough. A start that reached the printer just before may not show in its status yet, and relays
learn of a lock of remote control within a second or so: a start may pass until then.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from printreach.contract.codec import encode
from printreach.contract.commands import CommandStatus, SetTemp
from printreach.contract.errors import ErrorCode
from printreach.contract.status import UNDER_WAY, Feature, StatusResult
from printreach.hub.accounts.passkeys import Passkeys
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.hub.printers.given_orders import GivenOrders
from printreach.hub.printers.live import read_status
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.accounts import Account
from printreach.rules.accounts.sessions import Session
from printreach.rules.printers import OwnedPrinter, Printer
from printreach.rules.printers.commands import STOP_EVERYTHING
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records

AT_ONCE: Final = 50
"""Printers that are stopped at the same time."""

STOP_WITHIN_S: Final = 20.0
"""For the first order to one printer, and again for what follows it. A person who stopped
everything wants to know which printers to walk to."""
LOOK_AGAIN_FOR_S: Final = 6.0
"""After the first order, the printer is looked at each LOOK_EVERY_S for so long; then comes the
last order."""
LOOK_EVERY_S: Final = 1.0
_NO_ANSWER: Final = N_(
    "It gave no answer in %(stop_within_s)s seconds.", stop_within_s=f"{STOP_WITHIN_S:.0f}"
)
_QUERY: Final = {"IncludeMaterialSystem": "true"}
_UNREACHABLE: Final = frozenset(
    {
        ErrorCode.PRINTER_NOT_CONNECTED,
        ErrorCode.PRINTER_TIMED_OUT,
        CommandStatus.NOT_CONNECTED,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoppedPrinter:
    """The outcome for one printer after all were stopped."""

    printer_id: str
    name: str
    outcome: "StopOutcome"


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


class StopResult(StrEnum):
    """The outcome of stopping one printer."""

    STOPPED = "stopped"
    NOTHING = "nothing"
    """No print was under way."""
    UNREACHABLE = "unreachable"
    FAILED = "failed"
    """It was reached, and did not stop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StopOutcome:
    """sentence: why it was not stopped; "" if it was.

    heaters: what failed in switching its heaters off; "" if they are off or it was not reached.
    """

    stop: StopResult
    sentence: str = ""
    heaters: str = ""


class PrinterStop:
    """Stops one printer, once, despite a lock of remote control.

    slots: how many printers may be asked at once. It is released between the looks, so that each
    printer gets its first order soon, however many there are.
    """

    def __init__(self, http: PrinterHttp, printer: OwnedPrinter, slots: asyncio.Semaphore) -> None:
        self._http = http
        self._printer = printer
        self._slots = slots
        self._had_print = False
        self._is_ending = False  # the print that shows was cancelled
        self._refusal: PrinterRefusal | None = None
        self._heaters = ""
        self.has_acted = False
        """The printer accepted an order."""

    async def stop(self) -> StopOutcome:
        """Cancel, look again for some seconds, cancel again; switch heaters off each time."""
        try:
            async with self._slots, asyncio.timeout(STOP_WITHIN_S):
                look_until = asyncio.get_running_loop().time() + LOOK_AGAIN_FOR_S
                await self._cancel()
                if self._is_away:
                    return self._outcome()
                await self._look()
            async with asyncio.timeout(STOP_WITHIN_S):
                await self._look_again(look_until)
        except TimeoutError:
            return StopOutcome(stop=StopResult.FAILED, sentence=_NO_ANSWER)
        return self._outcome()

    async def _look_again(self, until: float) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            await asyncio.sleep(LOOK_EVERY_S)
            async with self._slots:
                await self._look()
        async with self._slots:
            # Agents know of starts that do not show yet, so they are asked whatever the status
            # shows.
            await self._cancel()
            if not self._is_away:
                await self._look()

    async def _look(self) -> None:
        """Cancel a print that shows and was not cancelled yet, and cool what has to be cooled."""
        answer = await self._http.ask(self._printer, "/status", _QUERY, despite_lock=True)
        status = answer if isinstance(answer, PrinterRefusal) else read_status(answer)
        if isinstance(status, PrinterRefusal):
            self._heaters = N_("They may still be on: %(sentence)s", sentence=status.sentence)
            return
        if status.job_status.state not in UNDER_WAY:
            self._is_ending, self._refusal = False, None
        elif not self._is_ending:
            await self._cancel()
        self._heaters = await self._cool(status)

    async def _cancel(self) -> None:
        answer = await self._order("/cancel")
        has_nothing = answer is not None and answer.code == CommandStatus.INVALID_STATE
        self._is_ending = answer is None
        self._refusal = None if has_nothing else answer
        self._had_print = self._had_print or not has_nothing

    async def _cool(self, status: StatusResult) -> str:
        """Switch off every heater that is on; return a sentence that names those that may still be
        on.

        Each has an order of its own, so a heater that cannot be set does not delay the others.
        """
        sentences = []
        for heater, order in _heaters_on(status):
            refused = await self._order("/set-temp", encode(order))
            if refused is not None:
                sentences.append(
                    N_(
                        "The %(heater)s may still be on: %(sentence)s",
                        heater=heater,
                        sentence=refused.sentence,
                    )
                )
        return " ".join(sentences)

    async def _order(self, command: str, arguments: bytes = b"") -> PrinterRefusal | None:
        answer = await self._http.order(
            self._printer, command, arguments=arguments, despite_lock=True
        )
        if isinstance(answer, PrinterRefusal):
            return answer
        self.has_acted = True
        return None

    @property
    def _is_away(self) -> bool:
        return self._refusal is not None and self._refusal.code in _UNREACHABLE

    def _outcome(self) -> StopOutcome:
        if self._refusal is None:
            stop = StopResult.STOPPED if self._had_print else StopResult.NOTHING
            return StopOutcome(stop=stop, heaters=self._heaters)
        if self._is_away:
            return StopOutcome(stop=StopResult.UNREACHABLE, sentence=self._refusal.sentence)
        return StopOutcome(
            stop=StopResult.FAILED, sentence=self._refusal.sentence, heaters=self._heaters
        )


def _heaters_on(status: StatusResult) -> Iterator[tuple[str, SetTemp]]:
    """Yield the heaters that have a target, with the order that switches each off.

    A printer whose temperatures cannot be set remotely is left to what its own cancelling does.
    """
    if Feature.TEMPERATURE_CONTROL not in Feature(status.features):
        return
    temps = status.job_status.current_print.temps
    if temps.hotend_target:
        yield N_("hotend"), SetTemp(tool_c=0.0)
    if temps.bed_target:
        yield N_("bed"), SetTemp(bed_c=0.0)
    if temps.chamber_target:
        yield N_("chamber"), SetTemp(chamber_c=0.0)
    materials = status.job_status.material_system
    for tool in materials.tools if materials else []:
        if tool.target_celsius:
            yield (
                N_("tool %(index)s", index=tool.index),
                SetTemp(tool_c=0.0, tool_number=tool.index),
            )
