"""Decides whether a person may use a printer, and as what; no other place does.

Pages, what lasts on them and use cases ask here. Whoever is not let in is told the same as of a
printer that doesn't exist.
"""

from dataclasses import dataclass

from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import no_such_printer
from printreach.languages import N_
from printreach.rules.printers import Printer
from printreach.rules.printers.members import Member, Role
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

_ONLY_WATCHES = Denied(
    Reason.NOT_ALLOWED, N_("You can watch this printer. Ask its owner if you want to control it.")
)
_ONLY_OWNER = Denied(Reason.NOT_ALLOWED, N_("Only the owner of this printer can do that."))
_LOCKED = Denied(
    Reason.NOT_ALLOWED,
    N_("Remote control is locked in your account. Unlock it before you control a shared printer."),
)


@dataclass(frozen=True, slots=True)
class AdmittedPrinter:
    """A printer that a person may use. member: None if they own it."""

    printer: Printer
    member: Member | None = None

    @property
    def role(self) -> Role:
        return Role.OWNER if self.member is None else self.member.role


async def role_at_event(records: Records, person_id: str, stored: StoredEvent) -> Role | None:
    """Return what the person may do with the printer of an event; None if it isn't theirs to know.

    An event stays its owner's. A member knows those of the owner who let them in.
    """
    if stored.account_id == person_id:
        return Role.OWNER
    member = await records.members.get(stored.printer_id, person_id)
    is_of_owner = member is not None and member.account_id == stored.account_id
    return member.role if member is not None and is_of_owner else None


async def admitted_printer(
    records: Records, person_id: str, printer_id: str, needed: Role
) -> AdmittedPrinter | Denied:
    """Return the printer if the person may do what the role may.

    A person whose own remote control is locked controls no printer of others either.
    """
    printer = await records.printers.linked(printer_id)
    if printer is None:
        return no_such_printer()
    if printer.account_id == person_id:
        return AdmittedPrinter(printer)
    member = await records.members.get(printer_id, person_id)
    if member is None:
        return no_such_printer()
    if not member.role.includes(needed):
        return _ONLY_OWNER if needed is Role.OWNER else _ONLY_WATCHES
    if needed.includes(Role.CONTROL):
        person = await records.accounts.get(person_id)
        if person is None or person.is_locked:
            return _LOCKED
    return AdmittedPrinter(printer, member)
