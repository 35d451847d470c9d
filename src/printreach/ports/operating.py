"""What operators look through and decide: lists that stay usable with ten thousand accounts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.connections import Connection
from printreach.rules.detection_keys import DetectionKey
from printreach.rules.limits import AccountLimits, LimitChanges
from printreach.rules.operators import ActDone, Operator, OperatorAct
from printreach.rules.printers import Printer

T = TypeVar("T")


class AccountFilter(StrEnum):
    """Which accounts are listed."""

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
class Found(Generic[T]):
    """One page. total: rows on all pages."""

    rows: list[T]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterRow:
    """A printer with its owner and state.

    pictured_at: when its last picture was taken that its owner may see.
    """

    printer: Printer
    owner_email: str
    node_alive_at: datetime | None
    pictured_at: datetime | None = None


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
    """Totals. damaged_events: those that were set aside because they cannot be decoded."""

    accounts: int
    supporters: int
    printers: int
    apps: int
    connections: int
    damaged_events: int


class LimitRecords(Protocol):
    """Limits that operators decided."""

    async def of_service(self) -> LimitChanges: ...
    async def of_account(self, account_id: str) -> LimitChanges: ...
    async def in_force(self, account_id: str) -> AccountLimits:
        """Return the limits in force for that account."""
        ...

    async def put_of_service(self, changes: LimitChanges) -> None: ...
    async def put_of_account(self, account_id: str, changes: LimitChanges) -> None: ...


class OperatorRecords(Protocol):
    """All records in pages, and the log of operators' acts."""

    async def accounts(
        self, search: Search, show: AccountFilter, at: datetime
    ) -> Found[AccountRow]: ...
    async def printers(self, search: Search) -> Found[PrinterRow]: ...
    async def printer(self, printer_id: str) -> PrinterRow | None:
        """A linked printer."""
        ...

    async def connection(self, connection_id: str, at: datetime) -> ConnectionRow | None:
        """A living connection."""
        ...

    async def key(self, key_id: str) -> KeyRow | None: ...
    async def connections(self, search: Search, at: datetime) -> Found[ConnectionRow]:
        """Return the connections in force, newest first."""
        ...

    async def apps(self, search: Search, at: datetime) -> Found[AppRow]: ...
    async def keys(self, search: Search) -> Found[KeyRow]:
        """Return the keys, including disabled ones, newest first."""
        ...

    async def counts(self, at: datetime) -> Counts: ...
    async def other_operators(self, account_id: str) -> int:
        """Return how many operators there are besides that one, not counting blocked ones."""
        ...

    async def are_others(self, account_id: str) -> bool:
        """Return whether there is any account besides that one."""
        ...

    async def set_admin(self, account_id: str, *, is_admin: bool) -> None: ...
    async def note(
        self, operator: Operator, at: datetime, act: OperatorAct, subject: str, detail: str = ""
    ) -> None: ...
    async def acts(self, search: Search) -> Found[ActDone]:
        """Return the acts, latest first."""
        ...

    async def forget_acts(self, before: datetime) -> None: ...
    async def forget_subject(self, subject: str, instead: str) -> None:
        """Replace the subject of acts: an address that has to be forgotten."""
        ...
