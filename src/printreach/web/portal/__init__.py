"""The portal, through which an app asks a person for a connection to their printer: its forms.

Each redirects to the flow's page, which shows the current step. A form of another step, such as
from a page left open in another tab, changes nothing.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, assert_never

from litestar import MediaType, Response, post
from litestar.di import NamedDependency, Provide

from printreach.hub.denied import Denied, Reason
from printreach.hub.portal import IssuedConnection
from printreach.hub.tries import LINK_CODE_BY_ADDRESS
from printreach.languages import _
from printreach.rules.portal import PortalError, Step
from printreach.web.connections.permissions import ticked
from printreach.web.forms import ERROR_STATUS, Fields, sentence_of
from printreach.web.portal.flow import (
    START,
    NoSuchFlow,
    answer_no_such_flow,
    choose_again,
    flow_page,
    pay_in_step,
    provide_flow_request,
    provide_sent,
)
from printreach.web.portal.pages import FlowRequest, done_page, linking_page, step_page
from printreach.web.problems import AnyRequest
from printreach.web.routing import DeclaredRouter
from printreach.web.security import FORM
from printreach.web.signed_in import visitor_of

_DENIALS: Final[Mapping[Reason, tuple[int, PortalError]]] = MappingProxyType(
    {
        Reason.TOO_MANY_CONNECTIONS: (409, PortalError.PRINTER_UNAVAILABLE),
        Reason.NO_SUCH_PRINTER: (409, PortalError.PRINTER_UNAVAILABLE),
    }
)
"""The status of each refusal, and the error that the app gets if the person gives up."""
_LONGEST_CODE_SHOWN: Final = 32


@post("/link", media_type=MediaType.HTML)
async def link(
    request: AnyRequest, flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Link the printer whose agent shows the code."""
    if flow_request.account is None:
        return flow_request.back()
    code = sent["code"]
    address = visitor_of(request).address
    refused = flow_request.services.caller_tries.take_by_address(LINK_CODE_BY_ADDRESS, address)
    if refused is not None:
        return _link_again(flow_request, sentence_of(refused), code, status=429)
    denied = await flow_request.services.portal.link(flow_request.key, flow_request.account, code)
    if denied is not None:
        return _link_again(flow_request, denied.sentence, code)
    return flow_request.back()


@post("/name", media_type=MediaType.HTML)
async def name(
    flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Name the printer that was just linked."""
    if flow_request.account is None:
        return flow_request.back()
    portal, typed = flow_request.services.portal, sent["name"]
    refused = await portal.name(flow_request.key, flow_request.account, typed)
    if refused is not None:
        errors = {"name": refused.sentence}
        return step_page(flow_request, errors=errors, typed=typed, status=ERROR_STATUS)
    return flow_request.back()


@post("/own", media_type=MediaType.HTML)
async def take_own(
    flow_request: NamedDependency[FlowRequest],
    sent: NamedDependency[Fields],  # noqa: ARG001 - asking for it proves the form
) -> Response[Any]:
    """Continue with a printer that is linked already."""
    if flow_request.account is not None:
        await flow_request.services.portal.take_own(flow_request.key, flow_request.account)
    return flow_request.back()


@post("/choose", media_type=MediaType.HTML)
async def choose(
    flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Choose the printer."""
    if flow_request.view.step is Step.CHOOSE and not sent["printer"]:
        return await choose_again(flow_request, {"printer": _("Choose a printer.")})
    if flow_request.account is not None:
        await flow_request.services.portal.choose(
            flow_request.key, flow_request.account, sent["printer"]
        )
    return flow_request.back()


@post("/allow", media_type=MediaType.HTML, status_code=200)
async def allow(
    flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Allow the app the printer that the page showed."""
    if flow_request.account is None:
        return flow_request.back()
    made = await flow_request.services.portal.allow(
        flow_request.key,
        flow_request.account,
        sent["printer"],
        ticked(sent),
        replaces_earlier=sent["replace"] == "yes",
    )
    return _end(flow_request, made)


@post("/key", media_type=MediaType.HTML, status_code=200)
async def answer_key(
    flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Allow or refuse the app a key of the printer's own software."""
    if flow_request.account is None:
        return flow_request.back()
    made = await flow_request.services.portal.answer_key(
        flow_request.key, flow_request.account, sent["printer"], with_key=sent["answer"] == "yes"
    )
    if flow_request.access is not None:  # an agent may take half a minute to create a key
        await flow_request.services.leases.look(flow_request.access)
    return _end(flow_request, made)


@post("/pay", media_type=MediaType.HTML, status_code=200)
async def pay(
    flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Go on to the payment provider, and return to this flow afterwards."""
    return await pay_in_step(flow_request, sent["plan"])


@post("/refuse", media_type=MediaType.HTML)
async def refuse(
    flow_request: NamedDependency[FlowRequest], sent: NamedDependency[Fields]
) -> Response[Any]:
    """Return to the app without a connection."""
    code = sent["error"]
    error = PortalError(code) if code in set(PortalError) else PortalError.ACCESS_DENIED
    await flow_request.services.portal.refuse(flow_request.key, flow_request.account, error)
    return flow_request.back()


def _end(flow_request: FlowRequest, made: IssuedConnection | Denied | None) -> Response[Any]:
    match made:
        case IssuedConnection():
            return done_page(made)
        case Denied():
            status, refusal = _DENIALS.get(made.reason, (503, PortalError.SERVER_ERROR))
            return step_page(
                flow_request, errors={"printer": made.sentence}, refusal=refusal, status=status
            )
        case None:
            return flow_request.back()
        case _:
            assert_never(made)


def _link_again(
    flow_request: FlowRequest, sentence: str, typed: str, *, status: int = ERROR_STATUS
) -> Response[Any]:
    """Ask for the code again, with the error at its field."""
    typed = typed[:_LONGEST_CODE_SHOWN]
    return linking_page(flow_request, errors={"code": sentence}, typed=typed, status=status)


FLOW_FORMS = [link, name, take_own, choose, allow, answer_key, pay, refuse]


FLOW = DeclaredRouter(
    "/appportal/v1/flow/{flow_id:str}",
    route_handlers=[flow_page, *FLOW_FORMS],
    dependencies={"flow_request": Provide(provide_flow_request), "sent": Provide(provide_sent)},
    exception_handlers={NoSuchFlow: answer_no_such_flow},
    include_in_schema=False,
    opt=dict(FORM),
)


PORTAL_PAGES = [START, FLOW]
