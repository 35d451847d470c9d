"""Orders that people gave a printer, as lines of its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from printreach.store.printers.given_orders import SignedOrder

_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "/pause": "Paused",
        "/resume": "Resumed",
        "/cancel": "Stopped",
        "/start": "Started",
        "/files/upload": "Uploaded",
        "/files/delete": "Deleted",
        "/set-temp": "Temperature set",
        "/move-axis": "Moved",
        "/home": "Homed",
        "/extrude": "Filament moved",
        "/set-light": "Light switched",
        "/adjust": "Adjusted",
        "/emergency-stop": "Stopped in an emergency",
        "/restart-firmware": "Firmware restarted",
    }
)
_OTHER: Final = "Controlled"
"""Of a command that these words don't know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderRow:
    """A line: the same order that one person gave several times in a row is one of them.

    words: what was ordered, with the file that it is about. who: "you", an address, or words for a
    person whose account is deleted. at: of the last time.
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
    words, name = _WORDS.get(order.command, _OTHER), order.subject.rpartition("/")[2]
    who = "you" if order.person_id == person_id else signed.email or "a deleted account"
    return OrderRow(words=f"{words} {name}".rstrip(), who=who, at=order.at, times=1)
