"""Who stands at which flow: read from the address, the cookie and the session."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from litestar import Response
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, PermissionDeniedException
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.hub.leases import Access
from printreach.hub.portal_view import FlowKey, View
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
    """This browser began no such flow, or long ago."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowRequest:
    """One request for a flow's page, by the browser that began it.

    access: what lets the person in, where somebody is signed in.
    """

    key: FlowKey
    account: Account | None
    access: Access | None
    view: View

    def back(self) -> Redirect:
        """Lead to the flow's page, which shows the step that is due."""
        return Redirect(flow_path(self.key.flow_id), status_code=303)


def browser_of(request: AnyRequest, jar: Cookies) -> str:
    """The secret of this browser; empty where it has none."""
    return jar.read(request.headers.get("cookie", ""), BROWSER) or ""


async def provide_flow_request(
    request: AnyRequest,
    flow_id: FromPath[str],
    services: NamedDependency[Services],
    session: NamedDependency[SignedIn | None],
    jar: NamedDependency[Cookies],
) -> FlowRequest:
    """The flow of that address. Raises NoSuchFlow."""
    key = FlowKey(flow_id, browser_of(request, jar))
    account = session.account if session else None
    view = await services.portal.view(key, account)
    if view is None:
        raise NoSuchFlow("This browser has no such flow")
    return FlowRequest(
        key=key, account=account, access=session.access if session else None, view=view
    )


async def provide_sent(request: AnyRequest, flow_request: NamedDependency[FlowRequest]) -> Fields:
    """The fields of a form that stood on this flow's own page, in this browser.

    Read once the flow is known. Raises what read_fields() does, and PermissionDeniedException.
    """
    fields = await read_fields(request)
    if not flow_request.key.is_form_token(fields["token"]):
        raise PermissionDeniedException("This form is not of a page of this flow")
    return fields


def answer_no_such_flow(_request: AnyRequest, _failure: Exception) -> Response[Any]:
    """Tell the person where to begin anew; there is nobody to be sent back to."""
    return Template("portal/no_such_flow.html", status_code=404)
