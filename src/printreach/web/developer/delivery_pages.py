"""The deliveries of an app's events, over all of its connections."""

from collections.abc import Sequence
from typing import Final

from litestar import MediaType, get, post
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.developers import Developers
from printreach.web.dashboard.dashboard import FLASH_MESSAGES, or_404
from printreach.web.dashboard.webhook_pages import again, shown_deliveries
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn


@get("/developer/apps/{app_id:str}/deliveries", media_type=MediaType.HTML)
async def deliveries_page(
    app_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    developers: NamedDependency[Developers],
    services: NamedDependency[Services],
    said: FromQuery[str | None] = None,
) -> Template:
    """List the last deliveries."""
    listed = or_404(await developers.apps.one(signed_in.account.account_id, app_id))
    context = {
        "app": listed.app,
        "deliveries": shown_deliveries(await services.webhook_log.of_app(app_id)),
        "flash_message": FLASH_MESSAGES.get(said or "", ""),
    }
    return Template("developer/deliveries.html", context=context)


@post("/developer/apps/{app_id:str}/deliveries/{connection_id:str}/{delivery_id:int}/again")
async def send_again_for_app(
    app_id: FromPath[str],
    connection_id: FromPath[str],
    delivery_id: FromPath[int],
    signed_in: NamedDependency[SignedIn],
    developers: NamedDependency[Developers],
    services: NamedDependency[Services],
) -> Redirect:
    """Send one event again."""
    or_404(await developers.apps.one(signed_in.account.account_id, app_id))
    denied = await services.webhook_log.send_again_for_app(app_id, connection_id, delivery_id)
    return again(f"/developer/apps/{app_id}/deliveries", denied)


DELIVERY_PAGES: Final[Sequence[HTTPRouteHandler]] = (deliveries_page, send_again_for_app)
