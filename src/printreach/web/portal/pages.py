"""The portal's pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from litestar.response import Redirect, Template

from printreach.contract.permissions import ALL_PERMISSIONS
from printreach.contract.platforms import facts_of
from printreach.hub.leases import Access
from printreach.hub.portal import IssuedConnection, Request
from printreach.hub.portal.view import FlowKey, PrinterHere, View
from printreach.languages import _
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.apps.return_urls import completion_url, place_to_show
from printreach.rules.connections import MAX_APP_CONNECTIONS
from printreach.rules.portal import PortalError, Step
from printreach.rules.portal.parameters import (
    completion_parameters,
    failure_parameters,
    logo_address,
    logo_origin,
)
from printreach.web.app_that_asks import FLOWS
from printreach.web.connections.permissions import ticks_of
from printreach.web.payments import Plan
from printreach.web.security import CONTENT_SECURITY_POLICY, NO_REFERRER
from printreach.web.services import Services

_TEMPLATES: Final[Mapping[Step, str]] = MappingProxyType(
    {
        Step.ACCOUNT: "portal/account.html",
        Step.LINK: "portal/link.html",
        Step.NAME: "portal/name.html",
        Step.SUPPORTER: "portal/supporter.html",
        Step.CHOOSE: "portal/choose.html",
        Step.PERMIT: "portal/permit.html",
        Step.KEY: "portal/key.html",
        Step.DONE: "portal/already_done.html",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sale:
    """The offers of the supporter step. is_waiting: the person returned from paying, unconfirmed
    yet.

    app_connections: the limit per printer of this account.
    """

    is_sold: bool = False
    plans: Sequence[Plan] = ()
    is_waiting: bool = False
    app_connections: int = MAX_APP_CONNECTIONS


NO_SALE: Final = Sale()
SEEMS_UNUSED_AFTER: Final = timedelta(days=7)
"""An app that did not use its connection for so long has probably lost it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierConnections:
    """The connections that the app has to the printer already.

    made_at: the newest one. used_at: when the last of them was used. seem_unused: the page then
    proposes to end them.
    """

    count: int
    made_at: datetime
    used_at: datetime | None
    seem_unused: bool


def flow_path(flow_id: str) -> str:
    """Return the path of a flow's page; the forms of its steps are below it."""
    return FLOWS + flow_id


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowRequest:
    """One request for a flow's page, from the browser that began it, and the use cases it calls.

    access: of the signed-in account, if any.
    """

    services: Services
    key: FlowKey
    account: Account | None
    access: Access | None
    view: View

    def back(self) -> Redirect:
        """Redirect to the flow's page, which shows the current step."""
        return Redirect(flow_path(self.key.flow_id), status_code=303)


def welcome_page(request: Request, account: Account | None, query: str) -> Template:
    """Say which app asks, and what follows. query: as it came, for the form to send again."""
    denied = failure_parameters(PortalError.ACCESS_DENIED)
    return _page(
        "portal/welcome.html",
        request.query.logo_url,
        app=_app(request.app, request.query.logo_url),
        who=account.email if account else "",
        query=query,
        way_back=completion_url(request.return_url, denied),
        place=place_to_show(request.return_url),
    )


def step_page(
    flow_request: FlowRequest,
    *,
    errors: Mapping[str, str] | None = None,
    typed: str = "",
    refusal: PortalError = PortalError.ACCESS_DENIED,
    sale: Sale = NO_SALE,
    status: int = 200,
) -> Template:
    """Render the page of the flow's step.

    errors: of the form that was sent. typed: its values. refusal: the error with which a person who
    gives up returns to the app. sale: in the supporter step.
    """
    view = flow_request.view
    if view.step is Step.FAILED or view.step is Step.EXPIRED:
        error = view.flow.error or PortalError.EXPIRED
        # After a button that announced the return, the next page may redirect by itself.
        was_pressed = view.step is Step.FAILED
        return failed_page(
            view.app, view.flow.logo_url, view.flow.return_url, error, goes_by_itself=was_pressed
        )
    return _flow_page(
        _TEMPLATES[view.step],
        flow_request,
        status=status,
        place=place_to_show(view.flow.return_url),
        errors=errors or {},
        typed=typed,
        refusal=refusal.value,
        sale=sale,
        about=about,
        states={},
        ticks=ticks_of(ALL_PERMISSIONS),
        earlier=_earlier_connections(flow_request),
    )


def _earlier_connections(flow_request: FlowRequest) -> EarlierConnections | None:
    view = flow_request.view
    found = view.earlier.get(view.printer.printer.printer_id, ()) if view.printer else ()
    if not found:
        return None
    used_at = max((one.used_at for one in found if one.used_at is not None), default=None)
    idle_since = flow_request.services.clock.now() - SEEMS_UNUSED_AFTER
    return EarlierConnections(
        count=len(found),
        made_at=found[-1].created_at,
        used_at=used_at,
        seem_unused=used_at is None or used_at < idle_since,
    )


def paying_page(flow_request: FlowRequest, url: str) -> Template:
    """Send the person to the payment provider, which returns them to this flow."""
    page = _flow_page("portal/paying.html", flow_request, url=url)
    page.headers.update(NO_REFERRER)
    return page


def linking_page(
    flow_request: FlowRequest,
    *,
    errors: Mapping[str, str] | None = None,
    typed: str = "",
    status: int = 200,
) -> Template:
    """Ask for the code of a printer that is to be linked: the first one, or another."""
    return _flow_page(
        _TEMPLATES[Step.LINK], flow_request, status=status, errors=errors or {}, typed=typed
    )


def installing_page(flow_request: FlowRequest) -> Template:
    """Explain how to install an agent, with the field for its code on the same page."""
    return _flow_page("portal/install.html", flow_request, errors={})


def choosing_page(
    flow_request: FlowRequest, states: Mapping[str, str], errors: Mapping[str, str]
) -> Template:
    """List the printers to choose from.

    states: the known states by printer id, as parts/badges.html names them. errors: of the form
    that was sent.
    """
    return _flow_page(
        _TEMPLATES[Step.CHOOSE],
        flow_request,
        status=400 if errors else 200,
        errors=errors,
        refusal=PortalError.ACCESS_DENIED.value,
        about=about,
        states=states,
    )


def done_page(made: IssuedConnection) -> Template:
    """Return the person to the app with its secrets. The page is rendered once."""
    parameters = completion_parameters(made.completion)
    flow = made.view.flow
    return _auto_redirect_page(
        "portal/done.html",
        made.view.app,
        flow.logo_url,
        completion_url(flow.return_url, parameters),
        printer_name=made.completion.printer_name,
        goes_by_itself=True,
    )


def failed_page(
    app: App,
    logo_url: str | None,
    return_url: str,
    error: PortalError,
    *,
    goes_by_itself: bool = False,
) -> Template:
    """Return the person to the app with an error.

    goes_by_itself: redirect without another press, only after a button that announced it. Anybody
    can register an app, and could otherwise redirect people anywhere by an address of this service.
    """
    way_back = completion_url(return_url, failure_parameters(error))
    return _auto_redirect_page(
        "portal/failed.html",
        app,
        logo_url,
        way_back,
        error=error.value,
        place=place_to_show(return_url),
        goes_by_itself=goes_by_itself,
    )


def about(printer: PrinterHere, *, shows_state: bool = False) -> str:
    """Describe the printer's kind and, if no badge shows its state, whether it is connected."""
    state = _("connected") if printer.is_online else _("not connected now")
    platform = facts_of(printer.printer.platform).title
    if shows_state:
        return platform
    return f"{platform}, {state}" if platform else state.capitalize()


def _auto_redirect_page(
    template: str, app: App, logo_url: str | None, way_back: str, **context: Any
) -> Template:
    shown = _app(app, logo_url)
    page = _page(template, logo_url, app=shown, way_back=way_back, **context)
    page.headers.update(NO_REFERRER)
    return page


def _app(app: App, logo_url: str | None) -> dict[str, Any]:
    logo = logo_address(logo_url) if logo_url else ""
    return {"name": app.name, "logo": logo, "is_vouched_for": app.is_vouched_for}


def _flow_page(template: str, flow_request: FlowRequest, **context: Any) -> Template:
    """Render a page of a flow: for its app and person, with the token of its forms."""
    view, account = flow_request.view, flow_request.account
    logo_url = view.flow.logo_url
    shown: dict[str, Any] = {
        "app": _app(view.app, logo_url),
        "who": account.email if account else "",
        "view": view,
        "path": flow_path(flow_request.key.flow_id),
        "form": {"token": flow_request.key.form_token},
    }
    return _page(template, logo_url, **shown, **context)


def _page(template: str, logo_url: str | None, *, status: int = 200, **context: Any) -> Template:
    """Render a page that may load the app's logo, from its own origin only."""
    origin = logo_origin(logo_url) if logo_url else None
    policy = CONTENT_SECURITY_POLICY
    if origin is not None:
        policy = policy.replace("img-src 'self'", f"img-src 'self' {origin}")
    headers = {"Content-Security-Policy": policy}
    return Template(template, context=context, status_code=status, headers=headers)
