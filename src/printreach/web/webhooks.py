"""Webhooks of apps: their API with its keys, and the page of a connection with its deliveries."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException, ValidationException
from litestar.params import FromPath, JSONBody
from litestar.response import Redirect, Template
from msgspec import UNSET, Struct

from printreach.contract.app_answers import (
    SetWebhook,
    TokenBody,
    WebhookKey,
    WebhookKeyList,
    WebhookTried,
)
from printreach.contract.events import EventType
from printreach.hub.connections.app_calls import AppCaller
from printreach.hub.denied import Denied
from printreach.languages import N_, _, translate
from printreach.rules.notifications import CHOICES
from printreach.rules.rate_limits import TooSoon
from printreach.rules.webhooks import LIFETIME, DeliveryState, LoggedDelivery
from printreach.web.connections.api import (
    FAILURES_OF_CALLERS,
    NeedsAppToken,
    NeedsBody,
    provide_caller,
    read_strictly,
)
from printreach.web.connections.permissions import ticks_of
from printreach.web.flash import redirect_with_flash
from printreach.web.problems import AnyRequest, answer_app_api_failure, described_failures, or_404
from printreach.web.routing import DeclaredRouter
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, too_many

_TITLES: Final[Mapping[int, str]] = MappingProxyType(
    {
        **{int(kind): text for kind, text in CHOICES},
        EventType.PROGRESS: N_("Progress"),
        EventType.NOTIFICATION_LIMIT_REACHED: N_(
            "The daily limit of notifications has been reached"
        ),
        EventType.TEST: N_("A test"),
    }
)
_WORDS: Final[Mapping[DeliveryState, tuple[str, str]]] = MappingProxyType(
    {
        DeliveryState.DELIVERED: (N_("Delivered"), "tick"),
        DeliveryState.GIVEN_UP: (N_("Given up"), "warning"),
        DeliveryState.DROPPED: (N_("Not sent"), "cancelled"),
        DeliveryState.QUEUED: (N_("On its way"), "clock"),
    }
)
_FAILED_FOR_NOW: Final = (N_("Failed, trying again"), "again")

_KEYS_MAX_AGE_S = 300


class Nothing(Struct, frozen=True):
    """A result without fields."""


class DoneAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a call that is done and has nothing to say."""

    status: int = 200
    result: Nothing = Nothing()


class WebhookTriedAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a WebhookTried."""

    status: int = 200
    result: WebhookTried


@post(
    "/api/appconnection/SetNotificationWebhook",
    status_code=200,
    operation_class=NeedsBody,
    responses=described_failures(*FAILURES_OF_CALLERS),
)
async def set_webhook(
    request: AnyRequest,
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[SetWebhook],
) -> DoneAnswer:
    """Send the printer's events to an address from now on, in place of an earlier one."""
    wish = await read_strictly(request, type(data))
    chosen = wish.inclusive_event_types_filter or []
    problem = await services.webhooks.set(caller, wish.webhook_url, chosen)
    if problem is not None:
        raise ValidationException(problem)
    return DoneAnswer()


@post(
    "/api/appconnection/DeleteNotificationWebhook",
    status_code=200,
    operation_class=NeedsAppToken,
    responses=described_failures(*FAILURES_OF_CALLERS),
)
async def delete_webhook(
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[TokenBody | None] = None,
) -> DoneAnswer:
    """Send no more events, not even those that wait to be sent again."""
    del data  # declared so that it is described and checked; provide_caller() has read its token
    await services.webhooks.delete(caller)
    return DoneAnswer()


@get(
    "/api/appconnection/TestWebhook",
    operation_class=NeedsAppToken,
    responses=described_failures(*FAILURES_OF_CALLERS, 404),
)
async def test_webhook(
    caller: NamedDependency[AppCaller], services: NamedDependency[Services]
) -> WebhookTriedAnswer:
    """Send a test event, once and whatever the filter says, and tell what came back."""
    outcome = await services.webhooks.test(caller)
    if outcome is None:
        raise NotFoundException("No webhook is set, or it has expired")
    if isinstance(outcome, TooSoon):
        raise too_many(outcome)
    tried = WebhookTried(
        http_status=outcome.http_status,
        duration_ms=outcome.duration_ms,
        error=outcome.error if outcome.error is not None else UNSET,
    )
    return WebhookTriedAnswer(result=tried)


@get("/.well-known/webhook-keys.json", sync_to_thread=False)
def webhook_keys(services: NamedDependency[Services]) -> Response[WebhookKeyList]:
    """Return the public keys by which deliveries to webhooks are verified."""
    keys = [
        WebhookKey(
            key_id=key.key_id,
            public_key=base64.b64encode(key.public).decode("ascii"),
            not_after=key.not_after,
        )
        for key in services.webhooks.public_keys()
    ]
    headers = {"Cache-Control": f"public, max-age={_KEYS_MAX_AGE_S}"}
    return Response(WebhookKeyList(keys=keys), headers=headers)


WEBHOOK_API = DeclaredRouter(
    "/",
    route_handlers=[
        webhook_keys,
        DeclaredRouter(
            "/",
            route_handlers=[set_webhook, delete_webhook, test_webhook],
            dependencies={"caller": Provide(provide_caller)},
        ),
    ],
    exception_handlers={Exception: answer_app_api_failure},
    tags=["Webhooks"],
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownDelivery:
    """A delivery in a list. title: of its event. word, icon: for its state."""

    delivery: LoggedDelivery
    title: str
    word: str
    icon: str


def shown_deliveries(deliveries: Sequence[LoggedDelivery]) -> list[ShownDelivery]:
    """Return the deliveries as lists show them, in the given order."""
    return [_shown(delivery) for delivery in deliveries]


def title_of(event_type: int) -> str:
    """Return the title of an event type, even of one that this version does not know."""
    title = _TITLES.get(event_type)
    return _("Event %(number)s", number=event_type) if title is None else translate(title)


def _shown(delivery: LoggedDelivery) -> ShownDelivery:
    has_failed = delivery.state is DeliveryState.QUEUED and delivery.attempts > 0
    word, icon = _FAILED_FOR_NOW if has_failed else _WORDS[delivery.state]
    return ShownDelivery(
        delivery=delivery, title=title_of(delivery.event_type), word=translate(word), icon=icon
    )


@get("/connections/{connection_id:str}", media_type=MediaType.HTML)
async def connection_page(
    connection_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> Template:
    """Show the connection of an app, or a shared one."""
    account_id = signed_in.account_id
    seen = or_404(await signed_in.services.webhook_log.of_connection(account_id, connection_id))
    hook = seen.webhook
    standing = await signed_in.services.billing.standing(signed_in.account)
    context = {
        "seen": seen,
        "is_paused": bool(seen.connection.app_id) and not standing.is_supporter,
        "is_sold": standing.is_sold,
        "wanted": [title_of(kind) for kind in hook.event_filter] if hook is not None else [],
        "ends_at": hook.set_at + LIFETIME if hook is not None else None,
        "deliveries": shown_deliveries(seen.deliveries),
        "ticks": ticks_of(seen.connection.permissions),
    }
    return Template("dashboard/connection.html", context=context)


@post("/connections/{connection_id:str}/deliveries/{delivery_id:int}/again")
async def send_again(
    connection_id: FromPath[str], delivery_id: FromPath[int], signed_in: NamedDependency[SignedIn]
) -> Redirect:
    """Send one event again."""
    account_id = signed_in.account_id
    denied = await signed_in.services.webhook_log.send_again(account_id, connection_id, delivery_id)
    return again(f"/connections/{connection_id}", denied)


def again(page: str, denied: Denied | None) -> Redirect:
    """Redirect to the page, which confirms it. Raises NotFoundException."""
    or_404(denied)
    return redirect_with_flash(page, "again")


@get("/developer/apps/{app_id:str}/deliveries", media_type=MediaType.HTML)
async def deliveries_page(app_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """List the last deliveries."""
    listed = or_404(await signed_in.services.own_apps.one(signed_in.account_id, app_id))
    context = {
        "app": listed.app,
        "deliveries": shown_deliveries(await signed_in.services.webhook_log.of_app(app_id)),
    }
    return Template("developer/deliveries.html", context=context)


@post("/developer/apps/{app_id:str}/deliveries/{connection_id:str}/{delivery_id:int}/again")
async def send_again_for_app(
    app_id: FromPath[str],
    connection_id: FromPath[str],
    delivery_id: FromPath[int],
    signed_in: NamedDependency[SignedIn],
) -> Redirect:
    """Send one event again."""
    or_404(await signed_in.services.own_apps.one(signed_in.account_id, app_id))
    denied = await signed_in.services.webhook_log.send_again_for_app(
        app_id, connection_id, delivery_id
    )
    return again(f"/developer/apps/{app_id}/deliveries", denied)


DELIVERY_PAGES = [connection_page, send_again, deliveries_page, send_again_for_app]
