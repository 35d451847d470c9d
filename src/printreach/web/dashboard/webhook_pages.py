"""The page of one app's connection: its webhook and the deliveries."""

from litestar import MediaType, Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.rules.webhooks import LIFETIME
from printreach.web.dashboard.dashboard import FLASH_MESSAGES, or_404
from printreach.web.deliveries import shown_deliveries, title_of
from printreach.web.flash import redirect_with_flash
from printreach.web.permissions import ticks_of
from printreach.web.security import FORM
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn


@get("/connections/{connection_id:str}", media_type=MediaType.HTML)
async def connection_page(
    connection_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    services: NamedDependency[Services],
    said: FromQuery[str | None] = None,
) -> Template:
    """Show the connection of an app, or a shared one."""
    account_id = signed_in.account.account_id
    seen = or_404(await services.webhook_log.of_connection(account_id, connection_id))
    hook = seen.webhook
    context = {
        "seen": seen,
        "wanted": [title_of(kind) for kind in hook.event_filter] if hook is not None else [],
        "ends_at": hook.set_at + LIFETIME if hook is not None else None,
        "deliveries": shown_deliveries(seen.deliveries),
        "ticks": ticks_of(seen.connection.permissions),
        "flash_message": FLASH_MESSAGES.get(said or "", ""),
    }
    return Template("dashboard/connection.html", context=context)


@post("/connections/{connection_id:str}/deliveries/{delivery_id:int}/again")
async def send_again(
    connection_id: FromPath[str],
    delivery_id: FromPath[int],
    signed_in: NamedDependency[SignedIn],
    services: NamedDependency[Services],
) -> Redirect:
    """Send one event again."""
    account_id = signed_in.account.account_id
    denied = await services.webhook_log.send_again(account_id, connection_id, delivery_id)
    return again(f"/connections/{connection_id}", denied)


def again(page: str, denied: Denied | None) -> Redirect:
    """Redirect to the page, which confirms it. Raises NotFoundException."""
    or_404(denied)
    return redirect_with_flash(page, "again")


WEBHOOK_PAGES = Router("/", route_handlers=[connection_page, send_again], opt=dict(FORM))
