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
    """With a grant of an operator that has not ended."""
    PAYING = "paying"
    OPERATORS = "operators"
    UNCONFIRMED = "unconfirmed"
    BLOCKED = "blocked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """text: stands somewhere in what a row is known by; "" finds all. number: from 1."""

    text: str = ""
    number: int = 1
    size: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Found(Generic[T]):
    """One page. total: rows on all of them."""

    rows: list[T]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterRow:
    """A printer with what is known of its surroundings.

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
    """A connection in a list. The names are empty where there is none any more."""

    connection: Connection
    app_name: str
    printer_name: str
    owner_email: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AppRow:
    """An app in a list, with its living connections."""

    app: App
    connections: int


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRow:
    """A key of the failure-detection API in a list."""

    key: DetectionKey
    owner_email: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """How much there is. damaged_events: those that were set aside, for nobody can read them."""

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
        """What holds for that account in the end."""
        ...

    async def put_of_service(self, changes: LimitChanges) -> None: ...
    async def put_of_account(self, account_id: str, changes: LimitChanges) -> None: ...


class OperatorRecords(Protocol):
    """Everything there is, in pages; and what operators did."""

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
        """The living ones, the newest first."""
        ...

    async def apps(self, search: Search, at: datetime) -> Found[AppRow]: ...
    async def keys(self, search: Search) -> Found[KeyRow]:
        """Disabled ones included, the newest first."""
        ...

    async def counts(self, at: datetime) -> Counts: ...
    async def other_operators(self, account_id: str) -> int:
        """How many there are beside that one, blocked ones not counted."""
        ...

    async def are_others(self, account_id: str) -> bool:
        """Whether there is any account beside that one."""
        ...

    async def set_admin(self, account_id: str, *, is_admin: bool) -> None: ...
    async def note(
        self, operator: Operator, at: datetime, act: OperatorAct, subject: str, detail: str = ""
    ) -> None: ...
    async def acts(self, search: Search) -> Found[ActDone]:
        """The latest first."""
        ...

    async def forget_acts(self, before: datetime) -> None: ...
    async def forget_subject(self, subject: str, instead: str) -> None:
        """Write something else where acts were about this: an address that is to be forgotten."""
        ...
