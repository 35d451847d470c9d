"""Orders that people gave a printer, as lines of its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from printreach.languages import N_, _, translate
from printreach.store.printers.given_orders import SignedOrder

_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "/pause": N_("Paused"),
        "/resume": N_("Resumed"),
        "/cancel": N_("Stopped"),
        "/start": N_("Started"),
        "/files/upload": N_("Uploaded"),
        "/files/delete": N_("Deleted"),
        "/set-temp": N_("Temperature set"),
        "/move-axis": N_("Moved"),
        "/home": N_("Homed"),
        "/extrude": N_("Filament moved"),
        "/set-light": N_("Light switched"),
        "/adjust": N_("Adjusted"),
        "/emergency-stop": N_("Stopped in an emergency"),
        "/restart-firmware": N_("Firmware restarted"),
    }
)
_OTHER: Final = N_("Controlled")
"""Of a command that these words don't know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderRow:
    """A line: the same order that one person gave several times in a row is one of them.

    words: what was ordered, with the file that it is about. who: an address, or words for a person
    whose account is deleted; "" for the person who looks. at: of the last time.
    """

    words: str
    who: str
    at: datetime
    times: int


def order_rows(orders: Sequence[SignedOrder], person_id: str) -> list[OrderRow]:
    """Return the lines for the person who looks. orders: the newest first."""
    rows: list[OrderRow] = []
    for signed in orders:
        row = _row(signed, person_id)
        last = rows[-1] if rows else None
        if last is not None and (last.words, last.who) == (row.words, row.who):
            rows[-1] = OrderRow(words=last.words, who=last.who, at=last.at, times=last.times + 1)
        else:
            rows.append(row)
    return rows


def _row(signed: SignedOrder, person_id: str) -> OrderRow:
    order = signed.order
    words = translate(_WORDS.get(order.command, _OTHER))
    if name := order.subject.rpartition("/")[2]:
        words = _("%(order)s %(file)s", order=words, file=name)
    who = "" if order.person_id == person_id else signed.email or _("a deleted account")
    return OrderRow(words=words, who=who, at=order.at, times=1)
