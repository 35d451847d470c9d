"""Composition of the web role's use cases."""

from functools import partial
from urllib.parse import urlsplit

from printreach.backends.oidc.provider import Provider
from printreach.backends.webauthn import WebAuthn
from printreach.hub.accounts.access_tokens import AccessTokens
from printreach.hub.accounts.build import SignInServices, sign_in_services
from printreach.hub.accounts.data import AccountData
from printreach.hub.accounts.invitations import Invitations
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.accounts.owner import Owner
from printreach.hub.connections.app_calls import AppCalls
from printreach.hub.core import Core
from printreach.hub.dashboard import dashboard
from printreach.hub.detection.contexts import Detection
from printreach.hub.developers import developers
from printreach.hub.leases import Leases
from printreach.hub.notifications.choices import Notifications
from printreach.hub.once import ShownOnce
from printreach.hub.operators import operating
from printreach.hub.portal import Portal
from printreach.hub.print_mails import MailUnsubscribe
from printreach.hub.printers.remote_lock import RemoteLock
from printreach.hub.prints.event_stream import EventStreams
from printreach.hub.webhooks.log import WebhookLog
from printreach.hub.webhooks.settings import Webhooks
from printreach.run.dependencies import Dependencies, snapshots_of
from printreach.run.scoring import why_prints_are_not_watched
from printreach.run.settings import Settings
from printreach.web.security import origin_of
from printreach.web.services import Services


def web_services(dependencies: Dependencies) -> Services:
    """Build every use case that pages and APIs call."""
    settings, core = dependencies.settings, dependencies.core
    http, scorer = dependencies.printers, dependencies.scorer
    operated = operating(core, dependencies.payments, settings.tunnel_ports)
    sign_in = _sign_in(settings, core, operated.invitations)
    why_detector_is_off = partial(why_prints_are_not_watched, settings, scorer)
    snapshots = snapshots_of(dependencies)
    of_dashboard = dashboard(
        core, snapshots, operated.printers, operated.connections, why_detector_is_off
    )
    of_developers = developers(
        core,
        settings.app_registration,
        settings.detector_plan,
        claims_addresses=settings.detector_ip_claims,
    )
    request_limits = RequestLimits(core)
    tokens = AccessTokens(core=core)
    return Services(
        clock=core.clock,
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
            store=core.store,
            bus=dependencies.bus,
            sessions=sign_in.sessions,
            access_tokens=tokens,
        ),
        signing_in=sign_in.signing_in,
        signing_up=sign_in.signing_up,
        recovering=sign_in.recovering,
        other_accounts=sign_in.other_accounts,
        passkeys=sign_in.passkeys,
        owner=Owner(core=core),
        account_data=AccountData(core=core, accounts=operated.accounts),
        access_tokens=tokens,
        shown_tokens=ShownOnce(core.clock),
        shown_codes=ShownOnce(core.clock),
        shown_invitations=ShownOnce(core.clock),
        shown_stops=ShownOnce(core.clock),
        notifications=Notifications(
            core=core,
            zones=dependencies.zones,
            sealer=dependencies.sealer,
            messenger=dependencies.messenger,
            mailer=dependencies.mailer,
            daily_limit=settings.notify_daily_limit,
        ),
        stops_mails=MailUnsubscribe(store=core.store, sealer=dependencies.sealer),
        dashboard=of_dashboard,
        remote_lock=RemoteLock(core=core, http=http, passkeys=sign_in.passkeys),
        developers=of_developers,
        portal=Portal(
            core=core,
            connections=operated.connections,
            printers=operated.printers,
            host_keys=dependencies.host_keys,
        ),
        app_calls=AppCalls(
            core=core,
            live=of_dashboard.live,
            detector=dependencies.detector,
            why_off=why_detector_is_off,
        ),
        event_streams=EventStreams(core=core, bus=dependencies.bus),
        detection=Detection(
            core=core,
            gate=of_developers.gate,
            request_limits=request_limits,
            scorer=scorer,
            primary_url=settings.detector_url,
        ),
        webhooks=Webhooks(
            core=core, sender=dependencies.webhook_sender, keys=dependencies.webhook_keys
        ),
        webhook_log=WebhookLog(core=core),
    )


def _sign_in(settings: Settings, core: Core, invitations: Invitations) -> SignInServices:
    """Build them; the operator's OpenID Connect provider redirects browsers back to our page."""
    back = f"{settings.base_url}/signin/other/back"
    provider = Provider(settings.oidc, back, core.clock) if settings.oidc is not None else None
    origin = origin_of(settings.base_url)
    authenticators = WebAuthn(host=urlsplit(origin).hostname or "", origin=origin)
    return sign_in_services(core, invitations, settings.sign_up, provider, authenticators)
