"""The page of supporter status: its state, the offers, and the management of payments."""

from dataclasses import replace
from typing import Any, Final

from litestar import MediaType, Response, Router, post, route
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied, Reason
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.forms import Fields, page, page_with_error, provide_fields
from printreach.web.accounts.plans import plans_of
from printreach.web.pages import READ
from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import is_head
from printreach.web.security import FORM
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

PATH: Final = "/account/supporter"
_PAGE: Final = "account/supporter.html"


@route(PATH, http_method=READ, media_type=MediaType.HTML)
async def supporter_page(
    request: AnyRequest,
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    back: FromQuery[str | None] = None,
) -> Response[Any]:
    """Show it. back: the browser returns from the provider, whose webhook may not have arrived
    yet.
    """
    if back is None or is_head(request.scope):
        return await _page(services, signed_in)
    refused = await services.billing.look(signed_in.account)
    if refused is not None:
        return await _page(services, signed_in, refused)
    # Read again, since the provider's answer may have changed the account.
    account = await services.accounts.get(signed_in.account.account_id)
    seen = signed_in if account is None else replace(signed_in, account=account)
    return await _page(services, seen, is_back=back == "paid")


@post(f"{PATH}/pay", media_type=MediaType.HTML)
async def pay(
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Go on to the provider's checkout."""
    url = await services.billing.buy(signed_in.account, fields["plan"], PATH)
    if isinstance(url, Denied) and url.reason is Reason.PAYS_ALREADY:
        return Redirect(f"{PATH}?back=managed", status_code=303)
    if not isinstance(url, str):
        return await _page(services, signed_in, url)
    return auto_redirect_page(url)


@post(f"{PATH}/manage", media_type=MediaType.HTML)
async def manage(
    services: NamedDependency[Services], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Go on to the provider's page about cards, receipts and cancellation."""
    url = await services.billing.manage(signed_in.account)
    if not isinstance(url, str):
        return await _page(services, signed_in, url)
    return auto_redirect_page(url)


def auto_redirect_page(url: str) -> Template:
    """Render a page that redirects by itself, since our forms may lead only to pages of ours."""
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return Template("account/leaving.html", context={"url": url}, headers=headers)


async def _page(
    services: Services,
    signed_in: SignedIn,
    fault: Denied | TooSoon | None = None,
    *,
    is_back: bool = False,
) -> Response[Any]:
    standing = await services.billing.standing(signed_in.account)
    offers = await services.billing.offers()
    if isinstance(offers, Denied):
        fault, offers = fault or offers, ()
    shown = {
        "account": signed_in.account,
        "standing": standing,
        "plans": plans_of(offers),
        "at": services.clock.now(),
        "is_waiting": is_back and not standing.is_supporter,
        "is_new": is_back and standing.is_supporter,
    }
    return page(_PAGE, **shown) if fault is None else page_with_error(_PAGE, fault, "plan", **shown)


SUPPORTING = Router(
    "/",
    route_handlers=[supporter_page, pay, manage],
    dependencies={"fields": Provide(provide_fields)},
    include_in_schema=False,
    opt=dict(FORM),
)
