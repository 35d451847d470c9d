"""The use cases that pages and APIs call."""

from collections.abc import Callable
from dataclasses import dataclass

from printreach.hub.account_mailer import AccountMailer
from printreach.hub.accounts import Accounts
from printreach.hub.accounts.access_tokens import AccessTokens, MadeToken
from printreach.hub.accounts.data import AccountData
from printreach.hub.accounts.invitations import Invitations
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.accounts.oidc import OtherAccounts
from printreach.hub.accounts.owner import Owner
from printreach.hub.accounts.passkeys import Passkeys
from printreach.hub.accounts.password_reset import Recovering
from printreach.hub.accounts.sessions import Sessions
from printreach.hub.accounts.signing_in import SigningIn, SignInLimits
from printreach.hub.accounts.signing_up import SigningUp
from printreach.hub.apps import OwnApps
from printreach.hub.connections import Connections, Shared
from printreach.hub.connections.app_calls import AppCalls
from printreach.hub.connections.live_links import LiveLinks
from printreach.hub.connections.own import OwnConnections
from printreach.hub.core import Reauthentication
from printreach.hub.detection import Detection
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.detection.keys import DetectionKeys, MadeKey
from printreach.hub.detection.usage import Usage
from printreach.hub.leases import Leases
from printreach.hub.notifications import Notifications
from printreach.hub.notifications.devices import Devices
from printreach.hub.once import ShownOnce
from printreach.hub.operators import Operating
from printreach.hub.payments import Billing
from printreach.hub.portal import Portal
from printreach.hub.print_mails import MailUnsubscribe
from printreach.hub.printers import Printers
from printreach.hub.printers.files import FileLists, Thumbnails
from printreach.hub.printers.given_orders import GivenOrders
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.members import MadeInvitation, Members
from printreach.hub.printers.own import OwnPrinters
from printreach.hub.printers.pictures import SharedPictures
from printreach.hub.printers.presets import Presets
from printreach.hub.printers.remote_lock import RemoteLock, StoppedPrinter
from printreach.hub.prints import PrintHistory
from printreach.hub.prints.event_stream import EventStreams
from printreach.hub.prints.snapshots import Snapshots
from printreach.hub.prints.timelapses import Timelapses
from printreach.hub.tries import CallerTries
from printreach.hub.watch.acts import NotificationActs
from printreach.hub.watch.choices import WatchChoices
from printreach.hub.watch.prints import WatchedPrints
from printreach.hub.webhooks import Webhooks
from printreach.hub.webhooks.log import WebhookLog
from printreach.limiters.slots import Slots
from printreach.ports import Clock
from printreach.ports.printer_http import PrinterHttp
from printreach.rules.addresses import Addresses


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskSpace:
    """The space of a file system, in bytes."""

    total: int
    free: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """Built by `run`; a route gets it by the dependency `services`, or with the signed-in account.

    shown_...: what a page shows once. pictures: shared by all viewers. disk_space: that of the data
    directory. live_viewers: of Live Links.
    """

    clock: Clock
    addresses: Addresses
    disk_space: Callable[[], DiskSpace]
    reauthentication: Reauthentication
    printer_http: PrinterHttp
    accounts: Accounts
    billing: Billing
    operating: Operating
    request_limits: RequestLimits
    sessions: Sessions
    sign_in_limits: SignInLimits
    leases: Leases
    signing_in: SigningIn
    signing_up: SigningUp
    recovering: Recovering
    invitations: Invitations
    account_mailer: AccountMailer
    owner: Owner
    other_accounts: OtherAccounts
    passkeys: Passkeys
    account_data: AccountData
    caller_tries: CallerTries
    live_viewers: Slots
    printers: Printers
    own_printers: OwnPrinters
    members: Members
    given_orders: GivenOrders
    presets: Presets
    live_status: LiveStatus
    file_lists: FileLists
    pictures: SharedPictures
    thumbnails: Thumbnails
    connections: Connections
    own_connections: OwnConnections
    live_links: LiveLinks
    snapshots: Snapshots
    timelapses: Timelapses
    print_history: PrintHistory
    watch_choices: WatchChoices
    watched_prints: WatchedPrints
    own_apps: OwnApps
    detection_keys: DetectionKeys
    detection_usage: Usage
    detection_gate: DetectionGate
    notifications: Notifications
    devices: Devices
    notification_acts: NotificationActs
    stops_mails: MailUnsubscribe
    access_tokens: AccessTokens
    shown_keys: ShownOnce[MadeKey]
    shown_shares: ShownOnce[Shared]
    shown_tokens: ShownOnce[MadeToken]
    shown_codes: ShownOnce[list[str]]
    shown_invitations: ShownOnce[tuple[str, str]]
    shown_member_invitations: ShownOnce[MadeInvitation]
    shown_stops: ShownOnce[list[StoppedPrinter]]
    event_streams: EventStreams
    portal: Portal
    remote_lock: RemoteLock
    detection: Detection
    app_calls: AppCalls
    webhooks: Webhooks
    webhook_log: WebhookLog

    async def close(self) -> None:
        """Stop everything that polls printers."""
        await self.live_status.close()
        await self.presets.close()
        await self.file_lists.close()
        await self.live_links.close()
        await self.pictures.close()
