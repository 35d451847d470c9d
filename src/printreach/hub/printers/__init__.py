"""Printers: linked by the code that their agent shows, listed, removed."""

from dataclasses import dataclass
from typing import Final

from printreach.hub.accounts import account_with
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.connections.credentials import CredentialKind, digest, parse_link_code
from printreach.rules.connections.live_links import LiveEnd
from printreach.rules.operators import Operator, OperatorAct
from printreach.rules.printers import (
    NO_TRIES,
    LinkOffer,
    Printer,
    after_wrong_try,
    free_name,
    is_locked,
    is_name_taken,
    is_online,
    parse_printer_name,
)
from printreach.store.store import Records

BAD_NAME: Final = Denied(
    Reason.INVALID, N_("A printer's name has 1 to 60 characters, none of them invisible.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPrinter:
    """A printer as an operator sees it."""

    printer: Printer
    owner_email: str
    is_online: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Printers:
    """The use cases about printers."""

    core: Core

    async def link(
        self, code: str, email: str, name: str, by: Operator | None = None
    ) -> Printer | Denied:
        """Link the agent that shows this code to that account, as a printer.

        A name that another printer of the account has gets a number.
        """
        printer_name = parse_printer_name(name)
        if printer_name is None:
            return BAD_NAME
        at = self.core.clock.now()

        async def link(records: Records) -> Printer | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            offer = await self._offer(records, account, code)
            if isinstance(offer, Denied):
                return offer
            if await records.printers.linked(offer.printer_id) is not None:
                return Denied(Reason.ALREADY_LINKED, N_("That printer is linked to an account."))
            others = await records.printers.of_account(account.account_id)
            printer = Printer(
                printer_id=offer.printer_id,
                account_id=account.account_id,
                name=free_name(printer_name, [other.name for other in others]),
                public_key=offer.public_key,
                linked_at=at,
            )
            await records.printers.link(printer)
            await records.printers.withdraw_offer(offer.printer_id)
            await records.notify(Notice(Topic.PRINTER, printer.printer_id), at)
            act = OperatorAct.PRINTER_LINKED
            await note(records, by, at, act, printer.name, printer.printer_id)
            return printer

        return await self.core.store.write(link)

    async def all(self) -> list[ListedPrinter]:
        """Return every linked printer, by owner and name."""
        rows = await self.core.store.read(lambda records: records.printers.all_linked())
        at = self.core.clock.now()
        return [
            ListedPrinter(
                printer=row.printer,
                owner_email=row.owner_email,
                is_online=is_online(row.printer, row.node_alive_at, at),
            )
            for row in rows
        ]

    async def remove(
        self, printer_id: str, by: Operator | None = None, *, account_id: str | None = None
    ) -> Printer | Denied:
        """Remove a printer from its account: its connections end, its agent may be linked again.

        account_id: the printer has to belong to it; None where an operator may remove any.
        """
        at = self.core.clock.now()

        async def remove(records: Records) -> Printer | Denied:
            printer = await linked_printer(records, printer_id, account_id)
            if isinstance(printer, Denied):
                return printer
            await records.connections.revoke_all_of_printer(printer_id, at)
            await records.live_links.end_all_of_printer(printer_id, at, LiveEnd.PRINTER)
            await records.printers.remove(printer_id, at)
            await note(records, by, at, OperatorAct.PRINTER_REMOVED, printer.name, printer_id)
            await records.notify(Notice(Topic.PRINTER, printer_id), at)
            return printer

        return await self.core.store.write(remove)

    async def _offer(self, records: Records, account: Account, code: str) -> LinkOffer | Denied:
        """Look a code up; a wrong one counts against the account's limit."""
        at = self.core.clock.now()
        tries = await records.accounts.link_tries(account.account_id)
        if is_locked(tries, at):
            return Denied(
                Reason.LINKING_LOCKED,
                N_("Too many wrong link codes; linking is locked for 15 minutes."),
            )
        offer = await _offer_with(records, code)
        if offer is None or at >= offer.expires_at:
            await records.accounts.set_link_tries(account.account_id, after_wrong_try(tries, at))
            return Denied(Reason.LINK_CODE_UNKNOWN, N_("That link code is unknown or has expired."))
        await records.accounts.set_link_tries(account.account_id, NO_TRIES)
        return offer


async def linked_printer(
    records: Records, printer_id: str, account_id: str | None = None
) -> Printer | Denied:
    """Return the printer if it belongs to an account, or to the given one."""
    if account_id is not None:
        return await own_printer(records, account_id, printer_id)
    printer = await records.printers.linked(printer_id)
    if printer is None:
        return Denied(
            Reason.NO_SUCH_PRINTER,
            N_("There is no linked printer %(printer_id)s.", printer_id=printer_id),
        )
    return printer


async def own_printer(records: Records, account_id: str, printer_id: str) -> Printer | Denied:
    """Return the printer if it belongs to that account."""
    printer = await records.printers.linked(printer_id)
    if printer is None or printer.account_id != account_id:
        return no_such_printer()
    return printer


async def rename_printer(records: Records, printer: Printer, name: str) -> Denied | None:
    """Give the printer another name, unless another printer of its account has it.

    Two that had the same name before may keep it.
    """
    others = [
        other.name
        for other in await records.printers.of_account(printer.account_id)
        if other.printer_id != printer.printer_id
    ]
    if name != printer.name and is_name_taken(name, others):
        return Denied(
            Reason.INVALID,
            N_("You have another printer called %(name)s. Choose another name.", name=name),
        )
    await records.printers.rename(printer.printer_id, name)
    return None


def no_such_printer() -> Denied:
    """Return one answer for an unknown printer and for another account's."""
    return Denied(Reason.NO_SUCH_PRINTER, N_("There is no such printer in your account."))


async def _offer_with(records: Records, typed: str) -> LinkOffer | None:
    code = parse_link_code(typed)
    if code is None:
        return None
    return await records.printers.offer_with_code(digest(CredentialKind.LINK_CODE, code.encode()))
