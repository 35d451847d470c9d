"""The use cases that pages and APIs call."""

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
from printreach.hub.accounts.sign_in_limits import SignInLimits
from printreach.hub.accounts.signing_in import SigningIn
from printreach.hub.accounts.signing_up import SigningUp
from printreach.hub.connections import Connections
from printreach.hub.connections.app_calls import AppCalls
from printreach.hub.dashboard import Dashboard
from printreach.hub.detection.contexts import Detection
from printreach.hub.developers import Developers
from printreach.hub.leases import Leases
from printreach.hub.notifications.choices import Notifications
from printreach.hub.once import ShownOnce
from printreach.hub.operators import Operating
from printreach.hub.payments import Billing
from printreach.hub.portal import Portal
from printreach.hub.print_mails import MailUnsubscribe
from printreach.hub.printers import Printers
from printreach.hub.printers.remote_lock import RemoteLock, StoppedPrinter
from printreach.hub.prints.event_stream import EventStreams
from printreach.hub.tries import CallerTries
from printreach.hub.webhooks.log import WebhookLog
from printreach.hub.webhooks.settings import Webhooks
from printreach.ports import Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """Built by `run`; a route gets it by the dependency `services`."""

    clock: Clock
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
    printers: Printers
    connections: Connections
    notifications: Notifications
    stops_mails: MailUnsubscribe
    access_tokens: AccessTokens
    shown_tokens: ShownOnce[MadeToken]
    shown_codes: ShownOnce[list[str]]
    shown_invitations: ShownOnce[tuple[str, str]]
    shown_stops: ShownOnce[list[StoppedPrinter]]
    event_streams: EventStreams
    portal: Portal
    dashboard: Dashboard
    remote_lock: RemoteLock
    developers: Developers
    detection: Detection
    app_calls: AppCalls
    webhooks: Webhooks
    webhook_log: WebhookLog
