"""The page that links a printer to an account by its agent's code."""

from typing import Any, Final

from litestar import MediaType, Response, post, route
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from printreach.hub.denied import Denied, Reason
from printreach.hub.tries import LINK_CODE_BY_ADDRESS
from printreach.rules.connections.credentials import parse_link_code
from printreach.rules.printers.linking import LOCK_TIME
from printreach.rules.rate_limits import TooSoon
from printreach.web.forms import Fields, page, page_with_error
from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import READ
from printreach.web.signed_in import SignedIn, visitor_of

_LINK: Final = "account/link.html"
_LONGEST_TYPING: Final = 32
"""Longer input is not a typing mistake, and is not shown again."""
_NOT_A_CODE: Final = Denied(
    Reason.LINK_CODE_UNKNOWN,
    "That isn't a link code. It has 8 letters and digits, and looks like K7QF-4MXY.",
)


@route("/link", http_method=READ, media_type=MediaType.HTML)
async def link_page(
    signed_in: NamedDependency[SignedIn],  # noqa: ARG001 - somebody has to be
    code: FromQuery[str | None] = None,
) -> Response[Any]:
    """Ask for a code and a name. code: from the link that the agent shows."""
    if code is None:
        return page(_LINK, code="", name="")
    readable = parse_link_code(code)
    if readable is None:
        return page_with_error(_LINK, _NOT_A_CODE, "code", code=_played_back(code), name="")
    return page(_LINK, code=_in_fours(readable), name="")


@post("/link", media_type=MediaType.HTML)
async def link(
    request: AnyRequest, fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Link the printer whose agent shows the code to the account."""
    code, name = fields["code"], fields["name"]
    shown = {"code": _played_back(code), "name": name[:60]}
    address = visitor_of(request).address
    refused = signed_in.services.caller_tries.take_by_address(LINK_CODE_BY_ADDRESS, address)
    if refused is not None:
        return page_with_error(_LINK, refused, "code", **shown)
    result = await signed_in.services.printers.link(code, signed_in.account.email, name)
    match result:
        case Denied(Reason.LINKING_LOCKED):
            return page_with_error(_LINK, TooSoon(LOCK_TIME), "code", **shown)
        case Denied():
            field = "name" if result.reason is Reason.INVALID else "code"
            return page_with_error(_LINK, result, field, **shown)
        case _:
            return Redirect(f"/printers/{result.printer_id}", status_code=303)


def _played_back(typed: str) -> str:
    return typed if len(typed) <= _LONGEST_TYPING else ""


def _in_fours(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"


LINKING = [link_page, link]
