"""The start of the portal, and the pages of ours on which an app may have it end."""

from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import MediaType, Response, Router, post, route
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.response import Redirect, Template

from printreach.hub.portal import Portal, Refusal, Request
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.portal import FLOW_KEPT
from printreach.rules.portal.query import PortalQuery, parse_portal_query
from printreach.web.cookies import Cookies
from printreach.web.portal.flow import BROWSER, FLOW_BY_ADDRESS, browser_of
from printreach.web.portal.pages import failed_page, flow_path, welcome_page
from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import READ
from printreach.web.security import FORM
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, too_many, visitor_of

_MAX_PARAMETERS: Final = 100


@route("/", http_method=READ, media_type=MediaType.HTML)
async def welcome(
    request: AnyRequest,
    services: NamedDependency[Services],
    session: NamedDependency[SignedIn | None],
) -> Response[Any]:
    """Say which app asks, and what follows. Nothing is stored yet."""
    outcome = await services.portal.read(_query(request))
    if isinstance(outcome, Refusal):
        return _refused(outcome)
    if outcome.error is not None:
        return failed_page(outcome.app, outcome.query.logo_url, outcome.return_url, outcome.error)
    return welcome_page(outcome, session.account if session else None, _query_text(request))


@post("/", media_type=MediaType.HTML)
async def begin(
    request: AnyRequest, services: NamedDependency[Services], jar: NamedDependency[Cookies]
) -> Response[Any]:
    """Start a flow for the query, and redirect to its first step."""
    refused = services.caller_tries.take_by_address(FLOW_BY_ADDRESS, visitor_of(request).address)
    if refused is not None:
        raise too_many(refused)
    outcome = await services.portal.read(_query(request))
    if isinstance(outcome, Refusal):
        return _refused(outcome)
    begun = await services.portal.begin(outcome, browser_of(request, jar) or None)
    answer = Redirect(flow_path(begun.flow_id), status_code=303)
    answer.set_cookie(jar.set(BROWSER, begun.browser, FLOW_KEPT))
    return answer


@route("/complete", http_method=READ, media_type=MediaType.HTML, sync_to_thread=False)
def complete(request: AnyRequest) -> Template:
    """The completion page of apps without one of their own; it does not show the parameters."""
    values = {name.lower(): value.lower() for name, value in _pairs(request)}
    return Template(
        "portal/complete.html",
        context={"is_connected": values.get("success") == "true"},
        headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"},
    )


@route("/nosupporterperks", http_method=READ, media_type=MediaType.HTML)
async def no_supporter_perks(request: AnyRequest, services: NamedDependency[Services]) -> Template:
    """Explain why an app's connection is paused, and how to restore it."""
    name = await _name_of_app(services.portal, _query(request))
    is_for_all = services.portal.core.supporters is SupporterPolicy.EVERYONE
    return Template(
        "portal/no_supporter_perks.html",
        context={"name": name, "is_for_all": is_for_all, "is_sold": services.billing.is_sold},
    )


async def _name_of_app(portal: Portal, query: PortalQuery) -> str:
    outcome = await portal.read(
        PortalQuery(
            app_id=query.app_id, return_url=None, printer_id=None, logo_url=None, key_app_name=None
        )
    )
    return outcome.app.name if isinstance(outcome, Request) else ""


def _refused(refusal: Refusal) -> Template:
    return Template(
        "portal/refused.html", context={"is_app_known": refusal.is_app_known}, status_code=400
    )


def _query(request: AnyRequest) -> PortalQuery:
    return parse_portal_query(_pairs(request))


def _query_text(request: AnyRequest) -> str:
    return request.scope["query_string"].decode("latin-1")


def _pairs(request: AnyRequest) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            _query_text(request), keep_blank_values=True, max_num_fields=_MAX_PARAMETERS
        )
    except ValueError:
        raise ClientException("The address has too many parameters") from None


START = Router(
    "/appportal/v1",
    route_handlers=[welcome, begin, complete, no_supporter_perks],
    include_in_schema=False,
    opt=dict(FORM),
)
