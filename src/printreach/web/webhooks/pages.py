"""The page of one connection with its webhook, and the deliveries of an app's events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from litestar import MediaType, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.contract.events import EventType
from printreach.hub.denied import Denied
from printreach.languages import N_, _, translate
from printreach.rules.notifications import CHOICES
from printreach.rules.webhooks import LIFETIME, DeliveryState, LoggedDelivery
from printreach.web.connections.permissions import ticks_of
from printreach.web.flash import redirect_with_flash
from printreach.web.problems import or_404
from printreach.web.signed_in import SignedIn

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
