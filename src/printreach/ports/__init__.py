"""Everything that the server asks of the outside, as protocols.

`backends` implements them; `hub`, `relay` and `web` know only what is declared here. The records of
single subjects have files of their own beside this one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from printreach.contract.permissions import Permission
from printreach.ports.access_tokens import AccessTokenRecords
from printreach.ports.authenticators import Authenticators, MadePasskey
from printreach.ports.detection import (
    ClaimRecords,
    DetectionKeyRecords,
    SwitchRecords,
    UsageRecords,
)
from printreach.ports.detection_contexts import ContextRecords
from printreach.ports.events import Arrival, EventInbox, EventRecords, StoredEvent
from printreach.ports.identity import (
    AccountRecords,
    InvitationRecords,
    MailLinkRecords,
    PasskeyRecords,
    Passwords,
    SecondFactorRecords,
    SessionRecords,
    StepRecords,
    TooBusy,
    TryRecords,
)
from printreach.ports.live_links import LiveLinkRecords
from printreach.ports.mail import Mail, Mailer, MailRecords
from printreach.ports.notifications import NotifyRecords
from printreach.ports.oidc import IdentityRecords
from printreach.ports.operating import LimitRecords, OperatorRecords, PrinterRow
from printreach.ports.payments import PaymentRecords
from printreach.ports.personal import PersonalRecords
from printreach.ports.portal import FlowRecords, HostKeys
from printreach.ports.prints import PrintRecords
from printreach.ports.relaying import Agents, DetectorReport, DetectorStates, Grants
from printreach.ports.snapshots import SnapshotRecords
from printreach.ports.watching import WatchRecords, WatchSettingsRecords
from printreach.ports.webhooks import (
    AppWebhook,
    DeliveryRecords,
    WebhookKeys,
    WebhookRecords,
    WebhookSender,
)
from printreach.rules.app_registration import AppIdHolder
from printreach.rules.apps import App
from printreach.rules.connections import Connection
from printreach.rules.credentials import AppDigests
from printreach.rules.linking import LinkOffer
from printreach.rules.printers import Printer

T = TypeVar("T")

__all__ = [
    "AccessTokenRecords",
    "AccountRecords",
    "Agents",
    "AppRecords",
    "AppWebhook",
    "Arrival",
    "Authenticators",
    "Bus",
    "ClaimRecords",
    "Clock",
    "ConnectionRecords",
    "ContextRecords",
    "DeliveryRecords",
    "DetectionKeyRecords",
    "DetectorReport",
    "DetectorStates",
    "EventInbox",
    "EventRecords",
    "FlowRecords",
    "Grants",
    "HostKeys",
    "IdentityRecords",
    "InvitationRecords",
    "LimitRecords",
    "LiveLinkRecords",
    "MadePasskey",
    "Mail",
    "MailLinkRecords",
    "Mailer",
    "Notice",
    "NotifyRecords",
    "OperatorRecords",
    "PasskeyRecords",
    "Passwords",
    "PaymentRecords",
    "PersonalRecords",
    "PrintRecords",
    "PrinterRecords",
    "PrinterRow",
    "Records",
    "SecondFactorRecords",
    "SessionRecords",
    "SnapshotRecords",
    "StepRecords",
    "Store",
    "StoreUnavailable",
    "StoredEvent",
    "SwitchRecords",
    "TooBusy",
    "Topic",
    "TryRecords",
    "UsageRecords",
    "WatchRecords",
    "WatchSettingsRecords",
    "WebhookKeys",
    "WebhookRecords",
    "WebhookSender",
]


class Clock(Protocol):
    """The wall clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class Topic(StrEnum):
    """What a notice is about, and what its key is."""

    CONNECTION = "connection"
    """key: unique_id. Its grant changed: it was revoked, or another credential opens it."""
    PRINTER = "printer"
    """key: printer_id. It was linked or removed; all its grants may have changed."""
    ACCOUNT = "account"
    """key: account_id. Its supporter status changed, it was blocked or deleted, or a browser was
    signed out; all its grants may have changed."""
    DETECTOR = "detector"
    """key: printer_id. The failure watch has a new state for its print."""
    INBOX = "inbox"
    """key: none. Events were stored and wait to be handed out."""
    MAIL = "mail"
    """key: none. A mail about an account waits to be delivered."""
    EVENT = "event"
    """key: account_id. Events of its printers were handed out."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A hint that a fact in the store changed. It may be lost: look again every 30 s anyway."""

    topic: Topic
    key: str


class Bus(Protocol):
    """Hints between the processes of an installation."""

    async def publish(self, notice: Notice) -> None:
        """Deliver the notice soon to every subscriber in every process, including this one."""
        ...

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Call back with each notice, on the event loop; the result unsubscribes.

        The callback must not block. An exception from it is logged and goes no further.
        """
        ...


class StoreUnavailable(Exception):
    """The database did not do what was asked: locked for too long, full, damaged, or closed."""


class AppRecords(Protocol):
    """Registered apps."""

    async def add(self, app: App) -> None:
        """Add an app, also if one of that id was removed before."""
        ...

    async def put(self, app: App) -> None:
        """Replace the app with that id."""
        ...

    async def remove(self, app_id: str, at: datetime) -> None:
        """Remove the app. Its id stays reserved for its owner."""
        ...

    async def get(self, app_id: str) -> App | None: ...
    async def all(self) -> list[App]: ...
    async def of_owner(self, account_id: str) -> list[App]: ...
    async def holders(self, app_id: str) -> list[AppIdHolder]:
        """Return the apps with that id in any spelling of case, including removed ones."""
        ...

    async def others_look_like(self, name: str, owner_id: str) -> bool:
        """Return whether another owner's app looks the same to people: rules.app_names.look_of."""
        ...

    async def ids_of_owner(self, account_id: str) -> int:
        """Return how many ids it has, including those of removed apps."""
        ...


class PrinterRecords(Protocol):
    """Printers that belong to an account, and the link codes of unlinked agents."""

    async def linked(self, printer_id: str) -> Printer | None: ...
    async def all_linked(self) -> list[PrinterRow]: ...
    async def of_account(self, account_id: str) -> list[Printer]: ...
    async def row(self, printer_id: str) -> PrinterRow | None:
        """Return a linked printer with its owner and state."""
        ...

    async def rows_of_account(self, account_id: str) -> list[PrinterRow]:
        """Return the printers of the account with their state, by name."""
        ...

    async def link(self, printer: Printer) -> None:
        """Link the printer, also if it was linked before and removed."""
        ...

    async def rename(self, printer_id: str, name: str) -> None: ...
    async def remove(self, printer_id: str, at: datetime) -> None: ...
    async def offer_with_code(self, code_digest: bytes) -> LinkOffer | None: ...
    async def put_offer(self, offer: LinkOffer, code_digest: bytes) -> None:
        """Store a link code, in place of an earlier one of the same agent."""
        ...

    async def withdraw_offer(self, printer_id: str) -> None: ...


class ConnectionRecords(Protocol):
    """Connections of every kind."""

    async def add(self, connection: Connection, digests: AppDigests | None) -> None: ...
    async def get(self, connection_id: str) -> Connection | None: ...
    async def with_app_token(self, token_digest: bytes) -> Connection | None:
        """Return the App Connection with that API token; it may have ended."""
        ...

    async def of_printer(self, printer_id: str) -> list[Connection]:
        """Return a printer's connections, including ended ones, oldest first."""
        ...

    async def of_account(self, account_id: str) -> list[Connection]:
        """Return the connections of all printers of the account, in the same way."""
        ...

    async def of_app(self, app_id: str) -> list[Connection]:
        """Return the connections of all people to that app, in the same way."""
        ...

    async def living_of_app(self, app_id: str, at: datetime) -> int:
        """Return how many connections of that app have not ended."""
        ...

    async def all(self) -> list[Connection]: ...
    async def set_permissions(
        self, connection_id: str, permissions: frozenset[Permission]
    ) -> None: ...
    async def revoke(self, connection_id: str, at: datetime) -> None: ...
    async def revoke_all_of_printer(self, printer_id: str, at: datetime) -> None: ...
    async def revoke_all_of_account(self, account_id: str, at: datetime) -> None: ...
    async def revoke_all_of_app(self, app_id: str, at: datetime) -> None: ...
    async def with_port(self) -> list[Connection]: ...
    async def release_port(self, port: int) -> None: ...
    async def set_port(self, connection_id: str, port: int | None) -> None: ...
    async def add_open_ticket(
        self,
        connection_id: str,
        ticket_digest: bytes,
        expires_at: datetime,
        session_id: str | None = None,
    ) -> None:
        """Store a ticket.

        session_id: of the browser; what the ticket opens ends with that session.
        """
        ...


class Records(Protocol):
    """All records, inside one unit of work."""

    @property
    def accounts(self) -> AccountRecords: ...
    @property
    def apps(self) -> AppRecords: ...
    @property
    def printers(self) -> PrinterRecords: ...
    @property
    def connections(self) -> ConnectionRecords: ...
    @property
    def sessions(self) -> SessionRecords: ...
    @property
    def steps(self) -> StepRecords: ...
    @property
    def mail_links(self) -> MailLinkRecords: ...
    @property
    def mails(self) -> MailRecords: ...
    @property
    def second_factors(self) -> SecondFactorRecords: ...
    @property
    def passkeys(self) -> PasskeyRecords: ...
    @property
    def identities(self) -> IdentityRecords: ...
    @property
    def invitations(self) -> InvitationRecords: ...
    @property
    def flows(self) -> FlowRecords: ...
    @property
    def detection_keys(self) -> DetectionKeyRecords: ...
    @property
    def detection_usage(self) -> UsageRecords: ...
    @property
    def detection_switches(self) -> SwitchRecords: ...
    @property
    def detection_claims(self) -> ClaimRecords: ...
    @property
    def detection_contexts(self) -> ContextRecords: ...
    @property
    def tries(self) -> TryRecords: ...
    @property
    def events(self) -> EventRecords: ...
    @property
    def notifications(self) -> NotifyRecords: ...
    @property
    def access_tokens(self) -> AccessTokenRecords: ...
    @property
    def payments(self) -> PaymentRecords: ...
    @property
    def limits(self) -> LimitRecords: ...
    @property
    def operating(self) -> OperatorRecords: ...
    @property
    def webhooks(self) -> WebhookRecords: ...
    @property
    def deliveries(self) -> DeliveryRecords: ...
    @property
    def live_links(self) -> LiveLinkRecords: ...
    @property
    def personal(self) -> PersonalRecords: ...
    @property
    def snapshots(self) -> SnapshotRecords: ...
    @property
    def prints(self) -> PrintRecords: ...
    @property
    def watch_settings(self) -> WatchSettingsRecords: ...
    @property
    def watches(self) -> WatchRecords: ...
    async def notify(self, notice: Notice, at: datetime) -> None:
        """Publish the notice if and when this unit of work is committed."""
        ...


class Store(Protocol):
    """The database. What `write` returned survives a loss of power."""

    async def write(self, work: Callable[[Records], Awaitable[T]]) -> T:
        """Run a unit of work alone: nothing else writes meanwhile, in any process.

        It is committed as a whole or, if it raises, not at all. It must await nothing but the
        records. Raises StoreUnavailable.
        """
        ...

    async def read(self, work: Callable[[Records], Awaitable[T]]) -> T:
        """Read records; each statement sees what is committed by then. Raises StoreUnavailable."""
        ...
