"""The use cases of the web role, composed of those of each subject."""

import secrets
from dataclasses import dataclass

from printreach.backends.clock import SystemClock
from printreach.backends.passwords import Argon2Passwords
from printreach.backends.sql.store import SqlStore
from printreach.hub.account_limits import RequestLimits
from printreach.hub.dashboard import dashboard
from printreach.hub.leases import Leases
from printreach.hub.once import ShownOnce
from printreach.hub.webhooks.log import WebhookLog
from printreach.ports import Bus, Clock, DetectorStates, HostKeys, Passwords
from printreach.ports.payments import Payments
from printreach.ports.printer_http import PrinterHttp
from printreach.ports.scoring import Scorer
from printreach.rules.credentials import TokenBytes
from printreach.run.reaching import Reaching, notifications, stops_mails
from printreach.run.settings import Settings
from printreach.run.snapshots import snapshots_of
from printreach.run.use_cases.apps import (
    app_calls,
    detection,
    developing,
    event_streams,
    portal,
)
from printreach.run.use_cases.entering import entering
from printreach.run.use_cases.ground import ground
from printreach.run.use_cases.operating import operating
from printreach.run.use_cases.owning import access_tokens, account_data, owner, remote_lock
from printreach.run.webhooks import Hooks, webhooks
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
    base = ground(
        settings,
        outside.store,
        outside.clock,
        outside.passwords,
        outside.reaching.outbox,
        outside.payments,
        outside.token_bytes,
    )
    store, clock = base.store, base.clock
    operated = operating(base)
    ways_in = entering(base, operated.invitations)
    snapshots = snapshots_of(settings, store, clock, outside.printer_http, base.token_bytes)
    people = dashboard(
        store,
        clock,
        snapshots,
        operated.printers,
        operated.connections,
        supporters=settings.supporters,
        has_mail_server=settings.has_mail_server,
        watches_prints=settings.detector_watch,
    )
    makers = developing(base)
    request_limits = RequestLimits(store, clock, base.caller_tries)
    tokens = access_tokens(base)
    return Services(
        store=store,
        clock=clock,
        post=base.post,
        caller_tries=base.caller_tries,
        request_limits=request_limits,
        operating=operated,
        accounts=operated.accounts,
        billing=operated.billing,
        invitations=operated.invitations,
        printers=operated.printers,
        connections=operated.connections,
        sessions=ways_in.sessions,
        sign_in_limits=ways_in.limits,
        leases=Leases(
            store=store, bus=outside.bus, sessions=ways_in.sessions, access_tokens=tokens
        ),
        signing_in=ways_in.signing_in,
        signing_up=ways_in.signing_up,
        recovering=ways_in.recovering,
        other_accounts=ways_in.other_accounts,
        passkeys=ways_in.passkeys,
        owner=owner(base),
        account_data=account_data(base, operated.accounts),
        access_tokens=tokens,
        shown_tokens=ShownOnce(clock),
        notifications=notifications(base, outside.reaching),
        stops_mails=stops_mails(base, outside.reaching),
        dashboard=people,
        remote_lock=remote_lock(base, outside.printer_http, ways_in.passkeys),
        developers=makers,
        portal=portal(base, operated, outside.host_keys),
        app_calls=app_calls(base, people.live, outside.detector),
        event_streams=event_streams(base, outside.bus),
        detection=detection(base, makers.gate, request_limits, outside.scorer),
        webhooks=webhooks(base, outside.hooks),
        webhook_log=WebhookLog(store=store, clock=clock),
    )
