"""Composition of the web role's use cases."""

import shutil
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from printreach.backends.webauthn import WebAuthn
from printreach.hub.accounts.access_tokens import AccessTokens, MadeToken
from printreach.hub.accounts.data import AccountData
from printreach.hub.accounts.limits import RequestLimits
from printreach.hub.accounts.oidc import Newcomers, OtherAccounts
from printreach.hub.accounts.owner import Owner
from printreach.hub.accounts.passkeys import Passkeys
from printreach.hub.accounts.password_reset import Recovering
from printreach.hub.accounts.sessions import Sessions
from printreach.hub.accounts.signing_in import SigningIn, SignInLimits
from printreach.hub.accounts.signing_up import SigningUp
from printreach.hub.apps import OwnApps
from printreach.hub.connections import Shared
from printreach.hub.connections.app_calls import AppCalls
from printreach.hub.connections.live_links import LiveLinks
from printreach.hub.connections.own import OwnConnections
from printreach.hub.core import Core
from printreach.hub.detection import Detection
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.detection.keys import DetectionKeys, MadeKey
from printreach.hub.detection.usage import Usage
from printreach.hub.leases import Leases
from printreach.hub.notifications import Notifications
from printreach.hub.notifications.devices import Devices
from printreach.hub.once import ShownOnce
from printreach.hub.operators import operating
from printreach.hub.portal import Portal
from printreach.hub.print_mails import MailUnsubscribe
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
from printreach.hub.prints.timelapses import Timelapses
from printreach.hub.watch.acts import NotificationActs
from printreach.hub.watch.choices import WatchChoices
from printreach.hub.watch.prints import WatchedPrints
from printreach.hub.webhooks import Webhooks
from printreach.hub.webhooks.log import WebhookLog
from printreach.limiters.slots import Slots
from printreach.ports.signing_in import SignInProvider
from printreach.run.dependencies import (
    Dependencies,
    push_notifier_of,
    snapshots_of,
    video_maker,
    video_store,
)
from printreach.run.scoring import why_prints_are_not_watched
from printreach.run.settings import Settings
from printreach.web.app import Documents
from printreach.web.connections.live_pages import MAX_VIEWERS
from printreach.web.security import origin_of
from printreach.web.services import DiskSpace, Services


def web_services(dependencies: Dependencies) -> Services:
    """Build every use case that pages and APIs call."""
    settings, core = dependencies.settings, dependencies.core
    http, scorer = dependencies.printers, dependencies.scorer
    operated = operating(core, dependencies.payments, settings.tunnel_ports)
    invitations = operated.invitations
    sessions, limits = Sessions(core=core), SignInLimits(core=core)
    signing_in = SigningIn(core=core, sessions=sessions, limits=limits)
    signing_up = SigningUp(
        core=core,
        sessions=sessions,
        invitations=invitations,
        limits=limits,
        policy=settings.sign_up,
    )
    passkeys = Passkeys(
        core=core, sessions=sessions, authenticators=_authenticators(settings), limits=limits
    )
    why_detector_is_off = partial(why_prints_are_not_watched, settings, scorer)
    snapshots = snapshots_of(dependencies)
    watch_choices = WatchChoices(core=core, kept=snapshots.kept)
    live_status = LiveStatus(http, core.clock)
    own_printers = OwnPrinters(core=core, live=live_status, restart=dependencies.restart)
    gate = DetectionGate(
        store=core.store,
        plan=settings.detector_plan,
        claims_addresses=settings.detector_ip_claims,
    )
    request_limits = RequestLimits(core)
    tokens = AccessTokens(core=core)
    given_orders = GivenOrders(core=core)

    def once(name: str, shape: Any) -> ShownOnce[Any]:
        return ShownOnce(core=core, sealer=dependencies.sealer, name=name, shape=shape)

    return Services(
        disk_space=partial(_disk_space, settings.data_dir),
        clock=core.clock,
        account_mailer=core.account_mailer,
        caller_tries=core.caller_tries,
        live_viewers=Slots(MAX_VIEWERS, name="viewers of Live Links", counts=core.counts),
        request_limits=request_limits,
        operating=operated,
        accounts=operated.accounts,
        billing=operated.billing,
        invitations=invitations,
        printers=operated.printers,
        connections=operated.connections,
        sessions=sessions,
        sign_in_limits=limits,
        leases=Leases(
            store=core.store,
            bus=dependencies.bus,
            sessions=sessions,
            access_tokens=tokens,
        ),
        signing_in=signing_in,
        signing_up=signing_up,
        recovering=Recovering(core=core, signing_in=signing_in, limits=limits),
        other_accounts=OtherAccounts(
            core=core,
            provider=_provider(settings, core),
            signing_in=signing_in,
            newcomers=Newcomers(core=core, signing_up=signing_up, invitations=invitations),
            limits=limits,
        ),
        passkeys=passkeys,
        owner=Owner(core=core),
        account_data=AccountData(core=core, accounts=operated.accounts),
        access_tokens=tokens,
        shown_keys=once("keys", MadeKey),
        shown_shares=once("shares", Shared),
        shown_tokens=once("tokens", MadeToken),
        shown_codes=once("codes", list[str]),
        shown_invitations=once("invitations", tuple[str, str]),
        shown_member_invitations=once("member-invitations", MadeInvitation),
        shown_stops=once("stops", list[StoppedPrinter]),
        notifications=Notifications(
            core=core,
            zones=dependencies.zones,
            sealer=dependencies.sealer,
            messenger=dependencies.messenger,
            mailer=dependencies.mailer,
            push=push_notifier_of(dependencies),
            daily_limit=settings.notify_daily_limit,
        ),
        devices=Devices(core=core, sealer=dependencies.sealer, sender=dependencies.push_sender),
        notification_acts=NotificationActs(core=core, http=http, choices=watch_choices),
        stops_mails=MailUnsubscribe(store=core.store, sealer=dependencies.sealer),
        addresses=core.addresses,
        reauthentication=core.proof,
        printer_http=http,
        own_printers=own_printers,
        members=Members(core=core),
        given_orders=given_orders,
        presets=Presets(core=core, http=http),
        live_status=live_status,
        file_lists=FileLists(http),
        pictures=SharedPictures(http, core.clock),
        thumbnails=Thumbnails(http, core.clock),
        own_connections=OwnConnections(core=core, connections=operated.connections),
        live_links=LiveLinks(core=core, live=live_status, printers=own_printers),
        snapshots=snapshots,
        timelapses=Timelapses(
            core=core, videos=video_store(settings), is_offered=video_maker() is not None
        ),
        print_history=PrintHistory(core=core),
        watch_choices=watch_choices,
        watched_prints=WatchedPrints(core=core, kept=snapshots.kept, why_off=why_detector_is_off),
        remote_lock=RemoteLock(core=core, http=http, passkeys=passkeys, given_orders=given_orders),
        own_apps=OwnApps(core=core, policy=settings.app_registration),
        detection_keys=DetectionKeys(core=core),
        detection_usage=Usage(core=core, plan=settings.detector_plan),
        detection_gate=gate,
        portal=Portal(
            core=core,
            connections=operated.connections,
            printers=operated.printers,
            host_keys=dependencies.host_keys,
        ),
        app_calls=AppCalls(
            core=core,
            live=live_status,
            detector=dependencies.detector,
            why_off=why_detector_is_off,
        ),
        event_streams=EventStreams(core=core, bus=dependencies.bus),
        detection=Detection(
            core=core,
            gate=gate,
            request_limits=request_limits,
            scorer=scorer,
            primary_url=settings.detector_url,
        ),
        webhooks=Webhooks(
            core=core, sender=dependencies.webhook_sender, keys=dependencies.webhook_keys
        ),
        webhook_log=WebhookLog(core=core),
    )


def _provider(settings: Settings, core: Core) -> SignInProvider | None:
    """Build the operator's OpenID Connect provider, if any; it redirects browsers back to us."""
    if settings.oidc is None:
        return None
    from printreach.backends.oidc import Provider  # few installations have one

    return Provider(settings.oidc, f"{settings.base_url}/signin/other/back", core.clock)


def _authenticators(settings: Settings) -> WebAuthn:
    origin = origin_of(settings.base_url)
    return WebAuthn(host=urlsplit(origin).hostname or "", origin=origin)


def _disk_space(folder: Path) -> DiskSpace:
    usage = shutil.disk_usage(folder)
    return DiskSpace(total=usage.total, free=usage.free)


def _command_api() -> bytes:
    """Return the description of the command API."""
    # Only here: few ask for it, and it knows the agent's commands.
    from printreach.run.command_api import command_api_description

    return command_api_description().encode()


DOCUMENTS: Final[Documents] = MappingProxyType({"/command-api.openapi.json": _command_api})
"""What the service's own host serves besides the description of the App APIs."""
