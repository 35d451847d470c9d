"""What people send from the pages of a flow.

Each act leads back to the flow's page, which shows the step that is due then. An act that does not
belong to the step that is due, of a page left open in another tab say, changes nothing.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, assert_never

from litestar import MediaType, Response, Router, post
from litestar.di import NamedDependency, Provide

from printreach.hub.denied import Denied, Reason
from printreach.hub.portal import Made
from printreach.hub.tries import LINK_CODE_BY_ADDRESS
from printreach.rules.portal import PortalError
from printreach.web.accounts.forms import Fields
from printreach.web.permissions import ticked
from printreach.web.portal.answers import done_page, step_page
from printreach.web.portal.supporting import pay_in_step
from printreach.web.portal.visits import (
    NoSuchFlow,
    Visit,
    answer_no_such_flow,
    provide_sent,
    provide_visit,
)
from printreach.web.problems import AnyRequest
from printreach.web.security import FORM
from printreach.web.services import Services
from printreach.web.signed_in import in_words, visitor_of

_DENIALS: Final[Mapping[Reason, tuple[int, PortalError]]] = MappingProxyType(
    {
        Reason.TOO_MANY_CONNECTIONS: (409, PortalError.PRINTER_UNAVAILABLE),
        Reason.NO_SUCH_PRINTER: (409, PortalError.PRINTER_UNAVAILABLE),
    }
)
"""What stood in the way, as a status and as the app hears of it if the person gives up."""
_BAD_NAME: Final = "A name has 1 to 60 letters, digits or other characters."
_LONGEST_CODE_SHOWN: Final = 32


@post("/link", media_type=MediaType.HTML)
async def link(
    request: AnyRequest,
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Take the code that an agent shows."""
    if visit.account is None:
        return visit.back()
    code = sent["code"]
    address = visitor_of(request).address
    refused = services.caller_tries.take_by_address(LINK_CODE_BY_ADDRESS, address)
    if refused is not None:
        sentence = f"Too many tries. Wait {in_words(refused.wait_seconds)}."
        return _again(visit, "code", sentence, typed=code, status=429)
    denied = await services.portal.link(visit.key, visit.account, code)
    if denied is not None:
        return _again(visit, "code", denied.sentence, typed=code[:_LONGEST_CODE_SHOWN])
    return visit.back()


@post("/name", media_type=MediaType.HTML)
async def name(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Name the printer that was just linked."""
    if visit.account is None:
        return visit.back()
    if not await services.portal.name(visit.key, visit.account, sent["name"]):
        return _again(visit, "name", _BAD_NAME, typed=sent["name"])
    return visit.back()


@post("/own", media_type=MediaType.HTML)
async def take_own(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],  # noqa: ARG001 - asking for it proves the form
    services: NamedDependency[Services],
) -> Response[Any]:
    """Go on with a printer that is linked already."""
    if visit.account is not None:
        await services.portal.take_own(visit.key, visit.account)
    return visit.back()


@post("/choose", media_type=MediaType.HTML)
async def choose(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Make it about that printer."""
    if visit.account is not None:
        await services.portal.choose(visit.key, visit.account, sent["printer"])
    return visit.back()


@post("/allow", media_type=MediaType.HTML, status_code=200)
async def allow(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """The app may have the printer that the page showed."""
    if visit.account is None:
        return visit.back()
    made = await services.portal.allow(visit.key, visit.account, sent["printer"], ticked(sent))
    return _end(visit, made)


@post("/key", media_type=MediaType.HTML, status_code=200)
async def answer_key(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """The second question: a key of the printer's own software, or none."""
    if visit.account is None:
        return visit.back()
    made = await services.portal.answer_key(
        visit.key, visit.account, sent["printer"], with_key=sent["answer"] == "yes"
    )
    if visit.access is not None:  # an agent may have taken half a minute to make a key
        await services.leases.look(visit.access)
    return _end(visit, made)


@post("/pay", media_type=MediaType.HTML, status_code=200)
async def pay(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Go on to the payment provider, and come back to this flow."""
    return await pay_in_step(visit, services, sent["plan"])


@post("/refuse", media_type=MediaType.HTML)
async def refuse(
    visit: NamedDependency[Visit],
    sent: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Go back to the app without a connection."""
    said = sent["error"]
    error = PortalError(said) if said in set(PortalError) else PortalError.ACCESS_DENIED
    await services.portal.refuse(visit.key, visit.account, error)
    return visit.back()


def _end(visit: Visit, made: Made | Denied | None) -> Response[Any]:
    match made:
        case Made():
            return done_page(made)
        case Denied():
            status, refusal = _DENIALS.get(made.reason, (503, PortalError.SERVER_ERROR))
            return step_page(
                visit.key,
                visit.view,
                visit.account,
                errors={"printer": made.sentence},
                refusal=refusal,
                status=status,
            )
        case None:
            return visit.back()
        case _:
            assert_never(made)


def _again(
    visit: Visit, field: str, sentence: str, *, typed: str = "", status: int = 400
) -> Response[Any]:
    """The same page, with what is wrong at its field."""
    return step_page(
        visit.key,
        visit.view,
        visit.account,
        errors={field: sentence},
        typed=typed,
        status=status,
    )


ACTS = Router(
    "/appportal/v1/flow/{flow_id:str}",
    route_handlers=[link, name, take_own, choose, allow, answer_key, pay, refuse],
    dependencies={
        "visit": Provide(provide_visit),
        "sent": Provide(provide_sent),
    },
    exception_handlers={NoSuchFlow: answer_no_such_flow},
    include_in_schema=False,
    opt=dict(FORM),
)
