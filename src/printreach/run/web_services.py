"""The use cases of the web role, composed."""

import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.backends.clock import SystemClock
from printreach.backends.oidc.provider import Provider
from printreach.backends.passwords import Argon2Passwords
from printreach.backends.sql.store import SqlStore
from printreach.backends.webauthn import WebAuthn
from printreach.hub.access_tokens import AccessTokens
from printreach.hub.account_data import AccountData
from printreach.hub.account_limits import AccountLimitCases, RequestLimits
from printreach.hub.accounts import Accounts
from printreach.hub.app_calls import AppCalls
from printreach.hub.billing import Billing
from printreach.hub.connections import Connections
from printreach.hub.dashboard import dashboard
from printreach.hub.detection import Detection
from printreach.hub.detection_keys import DetectionKeys
from printreach.hub.developers import developers
from printreach.hub.event_stream import EventStreams
from printreach.hub.invitations import Invitations
from printreach.hub.notifications import Notifications
from printreach.hub.oidc import OtherAccounts
from printreach.hub.oidc_newcomers import Newcomers
from printreach.hub.once import ShownOnce
from printreach.hub.operated_apps import OperatedApps
from printreach.hub.operating import Operating
from printreach.hub.owner import Owner
from printreach.hub.passkeys import Passkeys
from printreach.hub.portal import Portal
from printreach.hub.post import Post
from printreach.hub.printers import Printers
from printreach.hub.proof import Proof
from printreach.hub.recovering import Recovering
from printreach.hub.sessions import Sessions
from printreach.hub.signing_in import SigningIn
from printreach.hub.signing_up import SigningUp
from printreach.hub.tries import AccountTries, CallerTries
from printreach.hub.webhook_log import WebhookLog
from printreach.hub.webhooks import Webhooks
from printreach.ports import Bus, Clock, DetectorStates, HostKeys, Passwords
from printreach.ports.payments import Payments
from printreach.ports.printer_http import PrinterHttp
from printreach.ports.scoring import Scorer
from printreach.rules.credentials import TokenBytes
from printreach.rules.mails import Mails
from printreach.run.reaching import Reaching
from printreach.run.settings import Settings
from printreach.run.snapshots import snapshots_of
from printreach.run.webhooks import Hooks
from printreach.web.security import origin_of
from printreach.web.services import Services


@dataclass(frozen=True, kw_only=True, slots=True)
class Outside:
    """What the use cases need of the world; tests put their own in its place."""

    store: SqlStore
    clock: Clock
    passwords: Passwords
    reaching: Reaching
    hooks: Hooks
    bus: Bus
    printer_http: PrinterHttp
    detector: DetectorStates
    scorer: Scorer
    token_bytes: TokenBytes = secrets.token_bytes
    host_keys: HostKeys | None = None
    payments: Payments | None = None


def real_outside(
    store: SqlStore,
    bus: Bus,
    reaching: Reaching,
    hooks: Hooks,
    printer_http: PrinterHttp,
    detector: DetectorStates,
    scorer: Scorer,
    host_keys: HostKeys | None = None,
) -> Outside:
    """The machine's own."""
    return Outside(
        store=store,
        clock=SystemClock(),
        passwords=Argon2Passwords(),
        reaching=reaching,
        hooks=hooks,
        bus=bus,
        printer_http=printer_http,
        detector=detector,
        scorer=scorer,
        host_keys=host_keys,
    )


def web_services(settings: Settings, outside: Outside) -> Services:
    """Every use case that pages and APIs call."""
    store, clock, token_bytes = outside.store, outside.clock, outside.token_bytes
    sessions = Sessions(store=store, clock=clock, token_bytes=token_bytes)
    account_tries, caller_tries = AccountTries(store, clock), CallerTries(clock)
    invitations = Invitations(
        store=store, clock=clock, token_bytes=token_bytes, base_url=settings.base_url
    )
    post = Post(
        mailer=outside.reaching.mailer, mails=Mails(settings.base_url), token_bytes=token_bytes
    )
    signing_in = SigningIn(
        store=store,
        clock=clock,
        token_bytes=token_bytes,
        passwords=outside.passwords,
        sessions=sessions,
        account_tries=account_tries,
        caller_tries=caller_tries,
    )
    billing = Billing(
        store=store,
        clock=clock,
        caller_tries=caller_tries,
        supporters=settings.supporters,
        base_url=settings.base_url,
        payments=outside.payments,
    )
    accounts = Accounts(
        store=store,
        passwords=outside.passwords,
        clock=clock,
        token_bytes=token_bytes,
        billing=billing,
    )
    proof = Proof(clock=clock, passwords=outside.passwords, account_tries=account_tries)
    printers = Printers(store=store, clock=clock)
    connections = Connections(
        store=store,
        clock=clock,
        token_bytes=token_bytes,
        addresses=settings.addresses,
        ports=settings.tunnel_ports,
    )
    snapshots = snapshots_of(settings, store, clock, outside.printer_http, token_bytes)
    request_limits = RequestLimits(store, clock, caller_tries)
    developing = developers(
        store,
        clock,
        token_bytes,
        proof,
        policy=settings.app_registration,
        plan=settings.detector_plan,
        claims_addresses=settings.detector_ip_claims,
    )
    people = dashboard(store, clock, snapshots, printers, connections)
    signing_up = SigningUp(
        store=store,
        clock=clock,
        token_bytes=token_bytes,
        passwords=outside.passwords,
        sessions=sessions,
        invitations=invitations,
        post=post,
        account_tries=account_tries,
        caller_tries=caller_tries,
        policy=settings.sign_up,
    )
    return Services(
        store=store,
        clock=clock,
        accounts=accounts,
        billing=billing,
        operating=Operating(
            store=store,
            clock=clock,
            proof=proof,
            accounts=accounts,
            invitations=invitations,
            printers=printers,
            connections=connections,
            apps=OperatedApps(store=store, clock=clock),
            limits=AccountLimitCases(store=store, clock=clock),
            billing=billing,
            keys=DetectionKeys(store=store, clock=clock, token_bytes=token_bytes),
        ),
        request_limits=request_limits,
        sessions=sessions,
        signing_in=signing_in,
        signing_up=signing_up,
        recovering=Recovering(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            passwords=outside.passwords,
            signing_in=signing_in,
            post=post,
            account_tries=account_tries,
            caller_tries=caller_tries,
        ),
        invitations=invitations,
        post=post,
        owner=Owner(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            passwords=outside.passwords,
            proof=proof,
            post=post,
            account_tries=account_tries,
        ),
        other_accounts=OtherAccounts(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            provider=_provider(settings, clock),
            signing_in=signing_in,
            newcomers=Newcomers(
                clock=clock,
                token_bytes=token_bytes,
                signing_up=signing_up,
                invitations=invitations,
            ),
            proof=proof,
            post=post,
            caller_tries=caller_tries,
        ),
        passkeys=Passkeys(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            sessions=sessions,
            authenticators=_authenticators(settings),
            proof=proof,
            post=post,
            caller_tries=caller_tries,
        ),
        account_data=AccountData(
            store=store, clock=clock, accounts=accounts, proof=proof, post=post
        ),
        account_tries=account_tries,
        caller_tries=caller_tries,
        printers=printers,
        connections=connections,
        notifications=_notifications(settings, outside, caller_tries),
        access_tokens=AccessTokens(
            store=store, clock=clock, token_bytes=token_bytes, proof=proof, post=post
        ),
        shown_tokens=ShownOnce(clock),
        event_streams=EventStreams(
            store=store,
            bus=outside.bus,
            clock=clock,
            addresses=settings.addresses,
            snapshot_url=settings.addresses.of_snapshot,
        ),
        portal=Portal(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            connections=connections,
            printers=printers,
            supporters=settings.supporters,
            own_page=settings.addresses.of_completion_page(),
            test_page=settings.addresses.of_test_page(),
            host_keys=outside.host_keys,
        ),
        developers=developing,
        detection=Detection(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            gate=developing.gate,
            request_limits=request_limits,
            scorer=outside.scorer,
            primary_url=settings.detector_url,
            fallback_url=settings.base_url,
        ),
        dashboard=people,
        webhooks=Webhooks(
            store=store,
            clock=clock,
            token_bytes=token_bytes,
            sender=outside.hooks.sender,
            keys=outside.hooks.keys,
            addresses=settings.addresses,
            caller_tries=caller_tries,
        ),
        webhook_log=WebhookLog(store=store, clock=clock),
        app_calls=AppCalls(
            store=store,
            clock=clock,
            supporters=settings.supporters,
            addresses=settings.addresses,
            live=people.live,
            detector=outside.detector,
        ),
    )


def _notifications(
    settings: Settings, outside: Outside, caller_tries: CallerTries
) -> Notifications:
    reaching = outside.reaching
    return Notifications(
        store=outside.store,
        clock=outside.clock,
        token_bytes=outside.token_bytes,
        zones=reaching.zones,
        sealer=reaching.sealer,
        messenger=reaching.messenger,
        mailer=reaching.mailer,
        caller_tries=caller_tries,
        daily_limit=settings.notify_daily_limit,
    )


def _provider(settings: Settings, clock: Clock) -> Provider | None:
    """The operator's provider of OpenID Connect, which sends browsers back to a page of ours."""
    if settings.oidc is None:
        return None
    return Provider(settings.oidc, f"{settings.base_url}/signin/other/back", clock)


def _authenticators(settings: Settings) -> WebAuthn:
    origin = origin_of(settings.base_url)
    return WebAuthn(host=urlsplit(origin).hostname or "", origin=origin)
