"""A request for a page of a flow, identified by address, cookie and session."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from litestar import Response
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, PermissionDeniedException
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.hub.leases import Access
from printreach.hub.portal.view import FlowKey, View
from printreach.rules.accounts import Account
from printreach.rules.rate_limits import Limit
from printreach.web.accounts.forms import Fields, read_fields
from printreach.web.cookies import Cookies
from printreach.web.portal.pages import flow_path
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

BROWSER: Final = "printreach_portal"
"""The cookie that ties flows to the browser in which they began."""
FLOW_BY_ADDRESS: Final = Limit(name="portal", at_once=60, every=timedelta(seconds=10))


class NoSuchFlow(NotFoundException):
    """This browser has not begun such a flow, or it has expired."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowRequest:
    """One request for a flow's page, from the browser that began it.

    access: of the signed-in account, if any.
    """

    key: FlowKey
    account: Account | None
    access: Access | None
    view: View

    def back(self) -> Redirect:
        """Redirect to the flow's page, which shows the current step."""
        return Redirect(flow_path(self.key.flow_id), status_code=303)


def browser_of(request: AnyRequest, jar: Cookies) -> str:
    """Return the secret of this browser; empty if it has none."""
    return jar.read(request.headers.get("cookie", ""), BROWSER) or ""


async def provide_flow_request(
    request: AnyRequest,
    flow_id: FromPath[str],
    services: NamedDependency[Services],
    session: NamedDependency[SignedIn | None],
    jar: NamedDependency[Cookies],
) -> FlowRequest:
    """Return the request for the flow in the address. Raises NoSuchFlow."""
    key = FlowKey(flow_id, browser_of(request, jar))
    account = session.account if session else None
    view = await services.portal.view(key, account)
    if view is None:
        raise NoSuchFlow("This browser has no such flow")
    return FlowRequest(
        key=key, account=account, access=session.access if session else None, view=view
    )


async def provide_sent(request: AnyRequest, flow_request: NamedDependency[FlowRequest]) -> Fields:
    """Return the fields of a form from this flow's own page in this browser.

    They are read once the flow is known. Raises the exceptions of read_fields() and
    PermissionDeniedException.
    """
    fields = await read_fields(request)
    if not flow_request.key.is_form_token(fields["token"]):
        raise PermissionDeniedException("This form is not of a page of this flow")
    return fields


def answer_no_such_flow(_request: AnyRequest, _failure: Exception) -> Response[Any]:
    """Tell the person where to begin again, since the app to return to is unknown."""
    return Template("portal/no_such_flow.html", status_code=404)
