"""The lists of operators; they stay usable with ten thousand accounts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.connections import Connection
from printreach.rules.detection.access import DetectionKey
from printreach.rules.printers import Printer
from printreach.rules.printers.members import Role
from printreach.rules.watch.choices import Dismissal

T = TypeVar("T")


class AccountFilter(StrEnum):
    """The filter of the list of accounts."""

    ALL = "all"
    GRANTED = "granted"
    """With supporter status granted by an operator that has not ended."""
    PAYING = "paying"
    OPERATORS = "operators"
    UNCONFIRMED = "unconfirmed"
    BLOCKED = "blocked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """text: part of what identifies a row; "" finds all. number: of the page, from 1."""

    text: str = ""
    number: int = 1
    size: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class ListPage(Generic[T]):
    """One page. total: rows on all pages."""

    rows: list[T]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterRow:
    """A printer with its owner and state.

    pictured_at: when its last picture was taken that its owner may see. is_locked: whether the
    owner has locked remote control. role: of the person for whom the row was read. dismissal: of
    the alarms of the print under watch.
    """

    printer: Printer
    owner_email: str
    node_alive_at: datetime | None
    pictured_at: datetime | None = None
    is_locked: bool = False
    role: Role = Role.OWNER
    dismissal: Dismissal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountRow:
    """An account in a list."""

    account: Account
    printers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectionRow:
    """A connection in a list. The names are empty where it has no printer or owner any more."""

    connection: Connection
    app_name: str
    printer_name: str
    owner_email: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AppRow:
    """An app in a list, with the number of its connections in force."""

    app: App
    connections: int


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRow:
    """A key of the failure-detection API in a list."""

    key: DetectionKey
    owner_email: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Totals.

    online: printers whose agent is connected. damaged_events: those that were set aside because
    they cannot be decoded.
    """

    accounts: int
    supporters: int
    printers: int
    online: int
    apps: int
    connections: int
    damaged_events: int
