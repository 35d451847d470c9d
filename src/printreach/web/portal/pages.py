"""The portal's pages, made of what is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from litestar.response import Template

from printreach.contract.permissions import ALL_PERMISSIONS
from printreach.contract.platforms import facts_of
from printreach.hub.portal import Made, Request
from printreach.hub.portal_view import FlowKey, PrinterHere, View
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.completion import completion_parameters, failure_parameters
from printreach.rules.connections import MAX_APP_CONNECTIONS
from printreach.rules.portal import PortalError, Step
from printreach.rules.portal_query import logo_address, logo_origin
from printreach.rules.return_urls import completion_url, place_to_show
from printreach.web.accounts.plans import Plan
from printreach.web.permissions import ticks_of
from printreach.web.security import CONTENT_SECURITY_POLICY

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

# The address that carries the secrets must not reach anybody else, by a referrer least of all.
_LEAVING_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sale:
    """What the supporter step offers. is_waiting: somebody came back from paying, unconfirmed.

    app_connections: how many of them one printer of this account may have.
    """

    is_sold: bool = False
    plans: Sequence[Plan] = ()
    is_waiting: bool = False
    app_connections: int = MAX_APP_CONNECTIONS


NO_SALE: Final = Sale()


def flow_path(flow_id: str) -> str:
    """The page of a flow; its step's forms go below it."""
    return f"/appportal/v1/flow/{flow_id}"


def welcome_page(request: Request, account: Account | None, query: str) -> Template:
    """Who asks, and what follows. query: as it came, for the form to send it again."""
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
    key: FlowKey,
    view: View,
    account: Account | None,
    *,
    errors: Mapping[str, str] | None = None,
    typed: str = "",
    refusal: PortalError = PortalError.ACCESS_DENIED,
    sale: Sale = NO_SALE,
    status: int = 200,
) -> Template:
    """The page of the flow's step.

    errors: of what was just sent. typed: what is kept of it. refusal: with what the person goes
    back who gives up here. sale: in the supporter step.
    """
    logo_url = view.flow.logo_url
    if view.step is Step.FAILED or view.step is Step.EXPIRED:
        error = view.flow.error or PortalError.EXPIRED
        # Where the person gave up by a button, the page after it may lead back as that button said.
        was_pressed = view.step is Step.FAILED
        return failed_page(
            view.app, logo_url, view.flow.return_url, error, goes_by_itself=was_pressed
        )
    return _page(
        _TEMPLATES[view.step],
        logo_url,
        status=status,
        app=_app(view.app, logo_url),
        who=account.email if account else "",
        view=view,
        path=flow_path(key.flow_id),
        form={"token": key.form_token},
        place=place_to_show(view.flow.return_url),
        errors=errors or {},
        typed=typed,
        refusal=refusal.value,
        sale=sale,
        about=about,
        states={},
        ticks=ticks_of(ALL_PERMISSIONS),
    )


def paying_page(view: View, account: Account | None, url: str) -> Template:
    """Take the person to the payment provider, who sends them back to this flow."""
    page = _page(
        "portal/paying.html",
        view.flow.logo_url,
        app=_app(view.app, view.flow.logo_url),
        who=account.email if account else "",
        url=url,
    )
    page.headers.update(_LEAVING_HEADERS)
    return page


def installing_page(key: FlowKey, view: View, account: Account | None) -> Template:
    """How an agent gets beside the printer, and where its code is entered, without leaving."""
    return _page(
        "portal/install.html",
        view.flow.logo_url,
        app=_app(view.app, view.flow.logo_url),
        who=account.email if account else "",
        path=flow_path(key.flow_id),
        form={"token": key.form_token},
        errors={},
    )


def choosing_page(
    key: FlowKey, view: View, account: Account | None, states: Mapping[str, str]
) -> Template:
    """The list of printers: the step, or because the person wants another than the one shown.

    states: what each does now, by its id, as parts/badges.html names it; where it isn't known yet
    there is none.
    """
    return _page(
        _TEMPLATES[Step.CHOOSE],
        view.flow.logo_url,
        app=_app(view.app, view.flow.logo_url),
        who=account.email if account else "",
        view=view,
        path=flow_path(key.flow_id),
        form={"token": key.form_token},
        errors={},
        refusal=PortalError.ACCESS_DENIED.value,
        about=about,
        states=states,
    )


def done_page(made: Made) -> Template:
    """Take the person back to the app, with its secrets. It is made once."""
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
    """Lead the person back to the app, with an error.

    goes_by_itself: without another press. Only where they pressed a button that said so: anybody
    can register an app, and would otherwise send people anywhere by an address of this service.
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


def about(one: PrinterHere, *, shows_state: bool = False) -> str:
    """What kind of printer it is and, where no badge shows its state, whether it is connected."""
    state = "connected" if one.is_online else "not connected now"
    platform = facts_of(one.printer.platform).title
    if shows_state:
        return platform
    return f"{platform}, {state}" if platform else state.capitalize()


def _auto_redirect_page(
    template: str, app: App, logo_url: str | None, way_back: str, **context: Any
) -> Template:
    shown = _app(app, logo_url)
    page = _page(template, logo_url, app=shown, way_back=way_back, **context)
    page.headers.update(_LEAVING_HEADERS)
    return page


def _app(app: App, logo_url: str | None) -> dict[str, Any]:
    logo = logo_address(logo_url) if logo_url else ""
    return {"name": app.name, "logo": logo, "is_vouched_for": app.is_vouched_for}


def _page(template: str, logo_url: str | None, *, status: int = 200, **context: Any) -> Template:
    """A page that may show the app's logo, from its own origin and from nowhere else."""
    origin = logo_origin(logo_url) if logo_url else None
    policy = CONTENT_SECURITY_POLICY
    if origin is not None:
        policy = policy.replace("img-src 'self'", f"img-src 'self' {origin}")
    headers = {"Content-Security-Policy": policy}
    return Template(template, context=context, status_code=status, headers=headers)
