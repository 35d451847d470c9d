"""What the buttons of a warning's notification do, while no page is open and nobody is signed in.

A button's token stands for one account, printer, print and act. It is used up by its first press,
and everything that it depends on is checked again then.
"""

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Final, assert_never

from printreach.contract import codec
from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.errors import REMOTE_LOCKED
from printreach.hub.accounts.sessions import BLOCKED
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.notifications.push import act_digest
from printreach.hub.printers.access import admitted_printer
from printreach.hub.printers.given_orders import GivenOrders
from printreach.hub.watch import ask_status
from printreach.hub.watch.choices import WatchChoices
from printreach.hub.watch.pause import ORDER_WITHIN_S
from printreach.languages import N_
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.rules.notifications.push import NEEDED_ROLE, ActOffer, PushAct
from printreach.rules.printers import Printer
from printreach.rules.printers.commands import Action, state_problem
from printreach.rules.prints import print_id_under_way
from printreach.store.store import Records

log = logging.getLogger(__name__)

_USED: Final = N_("This button was pressed before. Open the printer's page to do more.")
_TOO_OLD: Final = N_("This button is too old. Open the printer's page to do it there.")
_NO_DEVICE: Final = N_(
    "This browser was signed out or removed. Open the printer's page and sign in."
)
_NO_PRINTER: Final = N_(
    "This printer doesn't belong to your account any more, or isn't shared with you."
)
_OTHER_PRINT: Final = N_("The print that the warning was about is over.")
_SLOW: Final = N_("The printer gave no answer in time. Open its page to see what it does.")


@dataclass(frozen=True, kw_only=True, slots=True)
class ActResult:
    """What the notification shows after its button was pressed."""

    is_done: bool
    title: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationActs:
    """The use case."""

    core: Core
    http: PrinterHttp
    choices: WatchChoices

    async def perform(self, token: str) -> ActResult:
        """Do what the button with this token stands for, once."""
        at, token_digest = self.core.clock.now(), act_digest(token)
        offer = await self.core.store.write(lambda records: records.pushes.use(token_digest, at))
        if offer is None:
            return _refused(_USED)
        printer = await self.core.store.read(lambda records: _printer_of(records, offer, at))
        problem = printer if isinstance(printer, str) else await self._do(offer, printer)
        await self.core.store.write(
            lambda records: records.pushes.conclude(token_digest, problem or "")
        )
        if isinstance(printer, str) or problem is not None:
            return _refused(problem or "")
        if offer.account_id != printer.account_id:
            # Of a member, whom the printer's agent doesn't know; they have no other button.
            given = GivenOrders(core=self.core)
            await given.note(offer.account_id, printer.owned, "/pause")
        log.info(
            "account %s did this from a notification at printer %s: %s",
            *(offer.account_id, offer.printer_id, offer.act.value),
        )
        return _done(offer.act, printer)

    async def _do(self, offer: ActOffer, printer: Printer) -> str | None:
        """Return why nothing was done; None if it was."""
        status = await ask_status(self.http, printer.owned)
        under_way = "" if isinstance(status, PrinterRefusal) else print_id_under_way(status)
        match offer.act:
            case PushAct.FINE:
                # The answer stays with its own print, so it does not matter whether that goes on.
                if under_way not in ("", offer.print_id):
                    return _OTHER_PRINT
                judged = await self.choices.judge(
                    offer.account_id, offer.printer_id, offer.print_id, was_failure=False
                )
                return judged.sentence if isinstance(judged, Denied) else None
            case PushAct.PAUSE:
                if isinstance(status, PrinterRefusal):
                    return status.sentence
                if under_way != offer.print_id:
                    return _OTHER_PRINT
                problem = state_problem(Action.PAUSE, status.job_status.state)
                return problem if problem is not None else await self._pause(printer)
            case _:
                assert_never(offer.act)

    async def _pause(self, printer: Printer) -> str | None:
        """Order an ordinary pause, as the printer's page does: its agent reports who paused it."""
        try:
            async with asyncio.timeout(ORDER_WITHIN_S):
                answer = await self.http.order(
                    printer.owned, "/pause", arguments=codec.encode(Pause())
                )
        except TimeoutError:
            answer = PrinterRefusal(int(CommandStatus.TIMED_OUT), _SLOW)
        return answer.sentence if isinstance(answer, PrinterRefusal) else None


async def _printer_of(records: Records, offer: ActOffer, at: datetime) -> Printer | str:
    """Return the printer of an offer that still holds, or why it does not."""
    if at >= offer.expires_at:
        return _TOO_OLD
    account = await records.accounts.get(offer.account_id)
    if account is None or account.is_blocked:
        return BLOCKED.sentence
    if await records.notifications.destination(offer.destination_id) is None:
        return _NO_DEVICE
    if account.is_locked:
        return REMOTE_LOCKED.meaning
    needed = NEEDED_ROLE[offer.act]
    admitted = await admitted_printer(records, offer.account_id, offer.printer_id, needed)
    if isinstance(admitted, Denied):
        is_known = admitted.reason is Reason.NOT_ALLOWED
        return admitted.sentence if is_known else _NO_PRINTER
    return admitted.printer


def _refused(sentence: str) -> ActResult:
    return ActResult(is_done=False, title=N_("Nothing was done"), text=sentence)


def _done(act: PushAct, printer: Printer) -> ActResult:
    match act:
        case PushAct.PAUSE:
            return ActResult(
                is_done=True,
                title=f"{printer.name}: pausing",
                text=N_("The pause was sent to the printer. It may take a moment."),
            )
        case PushAct.FINE:
            return ActResult(
                is_done=True,
                title=N_("%(name)s: your answer is kept", name=printer.name),
                text=N_("Failure detection was wrong; the print goes on."),
            )
        case _:
            assert_never(act)
