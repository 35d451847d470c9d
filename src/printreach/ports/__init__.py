"""Everything the server asks of the outside, in one place.

`backends` makes these real; `hub`, `relay` and `web` know only what stands here. What is kept of
people and of mails has a page of its own beside this one.
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
from printreach.ports.relaying import Agents, DetectorSaid, DetectorStates, Grants
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
    "DetectorSaid",
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
        """The current time, aware, in UTC."""
        ...


class Topic(StrEnum):
    """What a notice is about, and what its key is."""

    CONNECTION = "connection"
    """key: unique_id. Its grant changed: revoked, or another credential opens it."""
    PRINTER = "printer"
    """key: printer_id. It was linked or removed; all its grants may have changed."""
    ACCOUNT = "account"
    """key: account_id. Its supporter status changed, it was blocked or deleted, or a browser was
    signed out; so all its grants."""
    DETECTOR = "detector"
    """key: printer_id. The failure detector has said something of its print."""
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
        """Tell every subscriber in every process, this one's included, some time soon."""
        ...

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Call back with each notice, on the event loop; the result ends that.

        The callback must not block. What it raises is logged and reaches nobody.
        """
        ...


class StoreUnavailable(Exception):
    """The database did not do what was asked: locked for too long, full, damaged, or closed."""


class AppRecords(Protocol):
    """Registered apps."""

    async def add(self, app: App) -> None:
        """Also where one of that id was removed before."""
        ...

    async def put(self, app: App) -> None:
        """In place of the one with that id."""
        ...

    async def remove(self, app_id: str, at: datetime) -> None:
        """Its id stays with its owner."""
        ...

    async def get(self, app_id: str) -> App | None: ...
    async def all(self) -> list[App]: ...
    async def of_owner(self, account_id: str) -> list[App]: ...
    async def holders(self, app_id: str) -> list[AppIdHolder]:
        """Who has that id in any spelling of case, removed apps included."""
        ...

    async def others_look_like(self, name: str, owner_id: str) -> bool:
        """Whether an app of anybody else looks the same to people: rules.app_names.look_of."""
        ...

    async def ids_of_owner(self, account_id: str) -> int:
        """How many, removed ones included."""
        ...


class PrinterRecords(Protocol):
    """Printers that belong to an account, and the codes of agents that would."""

    async def linked(self, printer_id: str) -> Printer | None: ...
    async def all_linked(self) -> list[PrinterRow]: ...
    async def of_account(self, account_id: str) -> list[Printer]: ...
    async def row(self, printer_id: str) -> PrinterRow | None:
        """A linked printer with its surroundings."""
        ...

    async def rows_of_account(self, account_id: str) -> list[PrinterRow]:
        """The same with their surroundings, by name."""
        ...

    async def link(self, printer: Printer) -> None:
        """Also where it was linked before, and removed."""
        ...

    async def rename(self, printer_id: str, name: str) -> None: ...
    async def remove(self, printer_id: str, at: datetime) -> None: ...
    async def offer_with_code(self, code_digest: bytes) -> LinkOffer | None: ...
    async def put_offer(self, offer: LinkOffer, code_digest: bytes) -> None:
        """In place of an earlier one of the same agent."""
        ...

    async def withdraw_offer(self, printer_id: str) -> None: ...


class ConnectionRecords(Protocol):
    """Connections of every kind."""

    async def add(self, connection: Connection, digests: AppDigests | None) -> None: ...
    async def get(self, connection_id: str) -> Connection | None: ...
    async def with_app_token(self, token_digest: bytes) -> Connection | None:
        """The App Connection whose app calls the service with that token; it may have ended."""
        ...

    async def of_printer(self, printer_id: str) -> list[Connection]:
        """Ended ones included, oldest first."""
        ...

    async def of_account(self, account_id: str) -> list[Connection]:
        """The same of all its printers."""
        ...

    async def of_app(self, app_id: str) -> list[Connection]:
        """The same of all people who let that app in."""
        ...

    async def living_of_app(self, app_id: str, at: datetime) -> int:
        """How many of them have not ended."""
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
        """session_id: of the browser whose end is also that of what the ticket opens."""
        ...


class Records(Protocol):
    """All that is stored, inside one unit of work."""

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
        """Publish when, and only when, this unit of work is committed."""
        ...


class Store(Protocol):
    """Where facts are kept. What `write` returned survives a loss of power."""

    async def write(self, work: Callable[[Records], Awaitable[T]]) -> T:
        """Run a unit of work alone: nothing else writes meanwhile, in any process.

        It happens whole or, where it raises, not at all. It must await nothing but the records.
        Raises StoreUnavailable.
        """
        ...

    async def read(self, work: Callable[[Records], Awaitable[T]]) -> T:
        """Look things up; each look sees what is committed by then. Raises StoreUnavailable."""
        ...
