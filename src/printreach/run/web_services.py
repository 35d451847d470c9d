"""Composition of the web role's use cases."""

import secrets
from dataclasses import dataclass
from functools import partial

from printreach.backends.clock import SystemClock
from printreach.backends.passwords import Argon2Passwords
from printreach.hub.account_limits import RequestLimits
from printreach.hub.dashboard import dashboard
from printreach.hub.leases import Leases
from printreach.hub.once import ShownOnce
from printreach.hub.webhooks.log import WebhookLog
from printreach.ports import Bus, Clock
from printreach.ports.passwords import Passwords
from printreach.ports.payments import Payments
from printreach.ports.printer_http import HostKeys, PrinterHttp
from printreach.ports.relaying import DetectorStates
from printreach.ports.scoring import Scorer
from printreach.rules.credentials import TokenBytes
from printreach.run.messaging import Messaging, notifications, stops_mails
from printreach.run.scoring import why_prints_are_not_watched
from printreach.run.settings import Settings
from printreach.run.snapshots import snapshots_of
from printreach.run.use_cases.apps import (
    app_calls,
    detection,
    developer_services,
    event_streams,
    portal,
)
from printreach.run.use_cases.core import core_services
from printreach.run.use_cases.operating import operating
from printreach.run.use_cases.own_account import access_tokens, account_data, owner, remote_lock
from printreach.run.use_cases.sign_in import sign_in_services
from printreach.run.webhooks import WebhookDependencies, webhooks
from printreach.store.store import Store
from printreach.web.services import Services


@dataclass(frozen=True, kw_only=True, slots=True)
class WebDependencies:
    """The dependencies of the use cases on the outside; tests supply fakes."""

    store: Store
    clock: Clock
    passwords: Passwords
    messaging: Messaging
    webhooks: WebhookDependencies
    bus: Bus
    printer_http: PrinterHttp
    detector: DetectorStates
    scorer: Scorer
    token_bytes: TokenBytes = secrets.token_bytes
    host_keys: HostKeys | None = None
    payments: Payments | None = None


def web_dependencies(
    store: Store,
    bus: Bus,
    messaging: Messaging,
    webhooks: WebhookDependencies,
    printer_http: PrinterHttp,
    detector: DetectorStates,
    scorer: Scorer,
    host_keys: HostKeys | None = None,
) -> WebDependencies:
    """Build the dependencies from the real clock, password hashing and random numbers."""
    return WebDependencies(
        store=store,
        clock=SystemClock(),
        passwords=Argon2Passwords(),
        messaging=messaging,
        webhooks=webhooks,
        bus=bus,
        printer_http=printer_http,
        detector=detector,
        scorer=scorer,
        host_keys=host_keys,
    )


def web_services(settings: Settings, dependencies: WebDependencies) -> Services:
    """Build every use case that pages and APIs call."""
    core = core_services(
        settings,
        dependencies.store,
        dependencies.clock,
        dependencies.passwords,
        dependencies.messaging.outbox,
        dependencies.payments,
        dependencies.token_bytes,
    )
    store, clock = core.store, core.clock
    operated = operating(core)
    sign_in = sign_in_services(core, operated.invitations)
    snapshots = snapshots_of(settings, store, clock, dependencies.printer_http, core.token_bytes)
    why_detector_is_off = partial(why_prints_are_not_watched, settings, dependencies.scorer)
    dashboard_services = dashboard(
        store,
        clock,
        snapshots,
        operated.printers,
        operated.connections,
        supporters=settings.supporters,
        has_mail_server=settings.has_mail_server,
        why_detector_is_off=why_detector_is_off,
    )
    developers = developer_services(core)
    request_limits = RequestLimits(store, clock, core.caller_tries)
    tokens = access_tokens(core)
    return Services(
        store=store,
        clock=clock,
        account_mailer=core.account_mailer,
        caller_tries=core.caller_tries,
        request_limits=request_limits,
        operating=operated,
        accounts=operated.accounts,
        billing=operated.billing,
        invitations=operated.invitations,
        printers=operated.printers,
        connections=operated.connections,
        sessions=sign_in.sessions,
        sign_in_limits=sign_in.limits,
        leases=Leases(
            store=store, bus=dependencies.bus, sessions=sign_in.sessions, access_tokens=tokens
        ),
        signing_in=sign_in.signing_in,
        signing_up=sign_in.signing_up,
        recovering=sign_in.recovering,
        other_accounts=sign_in.other_accounts,
        passkeys=sign_in.passkeys,
        owner=owner(core),
        account_data=account_data(core, operated.accounts),
        access_tokens=tokens,
        shown_tokens=ShownOnce(clock),
        shown_codes=ShownOnce(clock),
        shown_invitations=ShownOnce(clock),
        shown_stops=ShownOnce(clock),
        notifications=notifications(core, dependencies.messaging),
        stops_mails=stops_mails(core, dependencies.messaging),
        dashboard=dashboard_services,
        remote_lock=remote_lock(core, dependencies.printer_http, sign_in.passkeys),
        developers=developers,
        portal=portal(core, operated, dependencies.host_keys),
        app_calls=app_calls(
            core, dashboard_services.live, dependencies.detector, why_detector_is_off
        ),
        event_streams=event_streams(core, dependencies.bus),
        detection=detection(core, developers.gate, request_limits, dependencies.scorer),
        webhooks=webhooks(core, dependencies.webhooks),
        webhook_log=WebhookLog(store=store, clock=clock),
    )
