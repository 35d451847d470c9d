"""The pages of a flow: its start, its current step at one address, and the page that ends it for
apps without a page of their own.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import MediaType, Response, post, route
from litestar.di import NamedDependency
from litestar.exceptions import ClientException, NotFoundException, PermissionDeniedException
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied, Reason
from printreach.hub.portal import Portal, Refusal, Request
from printreach.hub.portal.view import FlowKey, PrinterHere
from printreach.hub.printers.live import LiveStatus
from printreach.languages import N_
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.portal import CHOOSING_STEPS, FLOW_KEPT, PortalError, Step
from printreach.rules.portal.parameters import PortalQuery, parse_portal_query
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.web.app_that_asks import BROWSER
from printreach.web.forms import Fields, read_fields, sentence_of
from printreach.web.payments import plans_of
from printreach.web.portal.pages import (
    FlowRequest,
    Sale,
    choosing_page,
    failed_page,
    flow_path,
    installing_page,
    linking_page,
    paying_page,
    step_page,
    welcome_page,
)
from printreach.web.printer_state import OFFLINE, badge_of
from printreach.web.problems import AnyRequest
from printreach.web.routing import DeclaredRouter
from printreach.web.safe_methods import READ
from printreach.web.security import FORM, NO_REFERRER
from printreach.web.services import Services
from printreach.web.signed_in import Browser, SignedIn, raise_if_too_soon

SOON_S: Final = 0.5
"""A printer that has not answered by then is listed without a state."""
FLOW_BY_ADDRESS: Final = Limit(name="portal", at_once=60, every=timedelta(seconds=10))


class NoSuchFlow(NotFoundException):
    """This browser has not begun such a flow, or it has expired."""


async def provide_flow_request(
    flow_id: FromPath[str],
    session: NamedDependency[SignedIn | None],
    browser: NamedDependency[Browser],
) -> FlowRequest:
    """Return the request for the flow in the address. Raises NoSuchFlow."""
    services, key = browser.services, FlowKey(flow_id, browser.cookie(BROWSER))
    account = session.account if session else None
    view = await services.portal.view(key, account)
    if view is None:
        raise NoSuchFlow(N_("This browser has no such flow"))
    access = session.access if session else None
    return FlowRequest(services=services, key=key, account=account, access=access, view=view)


async def provide_sent(request: AnyRequest, flow_request: NamedDependency[FlowRequest]) -> Fields:
    """Return the fields of a form from this flow's own page in this browser.

    They are read once the flow is known. Raises the exceptions of read_fields() and
    PermissionDeniedException.
    """
    fields = await read_fields(request)
    if not flow_request.key.is_form_token(fields["token"]):
        raise PermissionDeniedException(N_("This form isn't from a page of this flow"))
    return fields


def answer_no_such_flow(_request: AnyRequest, _failure: Exception) -> Response[Any]:
    """Tell the person where to begin again, since the app to return to is unknown."""
    return Template("portal/no_such_flow.html", status_code=404)


@route("/", http_method=READ, media_type=MediaType.HTML)
async def flow_page(
    flow_request: NamedDependency[FlowRequest],
    choose: FromQuery[str | None] = None,
    back: FromQuery[str | None] = None,
    install: FromQuery[str | None] = None,
    link: FromQuery[str | None] = None,
) -> Response[Any]:
    """Show the step.

    choose: the person wants another printer than the one shown. back: they return from paying.
    install: they have no agent yet. link: they want to link another printer.
    """
    step = flow_request.view.step
    if step is Step.LINK or step in CHOOSING_STEPS:
        if install is not None:
            return installing_page(flow_request)
        if link is not None:
            return linking_page(flow_request)
    if choose is not None and step in CHOOSING_STEPS:
        return await choose_again(flow_request)
    if step is Step.CHOOSE:  # at an address of its own, so that Back leads to it from the next step
        return Redirect(f"{flow_path(flow_request.key.flow_id)}?choose=another", status_code=303)
    if step is Step.SUPPORTER:
        return await supporter_step(flow_request, is_back=back is not None)
    return step_page(flow_request)


async def choose_again(
    flow_request: FlowRequest, errors: Mapping[str, str] | None = None
) -> Response[Any]:
    """List the person's printers. errors: of the form that was sent."""
    states = await _states_of(flow_request.services.live_status, flow_request.view.printers)
    return choosing_page(flow_request, states, errors or {})


async def _states_of(live: LiveStatus, printers: Iterable[PrinterHere]) -> Mapping[str, str]:
    """Return the state of each printer, by its id, as far as it is known soon."""
    rows = list(printers)
    online = [row.printer.owned for row in rows if row.is_online]
    known = await live.fresh(online, SOON_S)
    states = {row.printer.printer_id: OFFLINE for row in rows if not row.is_online}
    for printer in online:
        if (reading := known.get(printer)) is not None:
            states[printer.printer_id] = badge_of(reading, is_online=True)
    return states


async def supporter_step(flow_request: FlowRequest, *, is_back: bool) -> Response[Any]:
    """Show the step, or the next one if the provider has confirmed the payment."""
    if not is_back or flow_request.account is None:
        return await _step(flow_request)
    refused = await flow_request.services.billing.look(flow_request.account)
    account = await flow_request.services.accounts.get(flow_request.view.facts.account_id or "")
    view = await flow_request.services.portal.view(flow_request.key, account)
    if view is None or view.step is not Step.SUPPORTER:
        return flow_request.back()
    return await _step(flow_request, refused, is_waiting=refused is None)


async def pay_in_step(flow_request: FlowRequest, plan: str) -> Response[Any]:
    """Go on to pay, if that is the current step."""
    if flow_request.account is None or flow_request.view.step is not Step.SUPPORTER:
        return flow_request.back()
    path = flow_path(flow_request.key.flow_id)
    url = await flow_request.services.billing.buy(flow_request.account, plan, path)
    match url:
        case str():
            return paying_page(flow_request, url)
        case Denied(Reason.PAYS_ALREADY):
            return await supporter_step(flow_request, is_back=True)
        case _:
            return await _step(flow_request, url)


async def _step(
    flow_request: FlowRequest, fault: Denied | TooSoon | None = None, *, is_waiting: bool = False
) -> Response[Any]:
    account_id = flow_request.view.facts.account_id or ""
    limits = await flow_request.services.operating.limits.in_force(account_id)
    offers = await flow_request.services.billing.offers()
    if isinstance(offers, Denied):
        fault, offers = fault or offers, ()
    return step_page(
        flow_request,
        errors={} if fault is None else {"plan": sentence_of(fault)},
        refusal=PortalError.NOT_A_SUPPORTER,
        sale=Sale(
            is_sold=flow_request.services.billing.is_sold,
            plans=plans_of(offers),
            is_waiting=is_waiting,
            app_connections=limits.app_connections,
        ),
    )


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
        return _refused(outcome, _query(request))
    if outcome.error is not None:
        return failed_page(outcome.app, outcome.query.logo_url, outcome.return_url, outcome.error)
    return welcome_page(outcome, session.account if session else None, _query_text(request))


@post("/", media_type=MediaType.HTML)
async def begin(browser: NamedDependency[Browser]) -> Response[Any]:
    """Start a flow for the query, and redirect to its first step."""
    services, address = browser.services, browser.visitor.address
    raise_if_too_soon(services.caller_tries.take_by_address(FLOW_BY_ADDRESS, address))
    outcome = await services.portal.read(_query(browser.request))
    if isinstance(outcome, Refusal):
        return _refused(outcome, _query(browser.request))
    begun = await services.portal.begin(outcome, browser.cookie(BROWSER) or None)
    answer = Redirect(flow_path(begun.flow_id), status_code=303)
    answer.set_cookie(browser.jar.set(BROWSER, begun.browser, FLOW_KEPT))
    return answer


@route("/complete", http_method=READ, media_type=MediaType.HTML, sync_to_thread=False)
def complete(request: AnyRequest) -> Template:
    """The completion page of apps without one of their own; it does not show the parameters."""
    values = {name.lower(): value.lower() for name, value in _pairs(request)}
    return Template(
        "portal/complete.html",
        context={"is_connected": values.get("success") == "true"},
        headers=dict(NO_REFERRER),
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


def _refused(refusal: Refusal, query: PortalQuery) -> Template:
    knows_app = refusal.is_app_known
    context = {
        "is_app_known": knows_app,
        "is_sent_twice": query.is_return_url_ambiguous if knows_app else query.is_app_id_ambiguous,
        "parameter": "returnUrl" if knows_app else "appId",
        "is_app_missing": not knows_app and not query.app_id,
    }
    return Template("portal/refused.html", context=context, status_code=400)


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
        raise ClientException(N_("The address has too many parameters")) from None


START = DeclaredRouter(
    "/appportal/v1",
    route_handlers=[welcome, begin, complete, no_supporter_perks],
    include_in_schema=False,
    opt=dict(FORM),
)
