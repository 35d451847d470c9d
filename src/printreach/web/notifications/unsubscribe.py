"""Unsubscribing by the link in each mail about prints.

The token identifies the account, so nobody has to sign in and no cookie is read. Mail programs and
their filters open links to scan them, so a GET changes nothing. A mail program with its own
unsubscribe button sends the POST itself (RFC 8058), not from a page of ours.
"""

from typing import Any, Final

from litestar import MediaType, Response, Router, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery
from litestar.response import Template

from printreach.web.security import KEYED
from printreach.web.services import Services

_PAGE: Final = "/notifications/stop"
_LARGEST_BODY: Final = 1024
"""Enough for `List-Unsubscribe=One-Click`; the body is ignored."""
_NO_LINK: Final = "This is no link of a mail about prints, or an old one. Was it copied whole?"


@get(_PAGE, media_type=MediaType.HTML, sync_to_thread=False)
def ask_to_stop(services: NamedDependency[Services], token: FromQuery[str] = "") -> Response[Any]:
    """Ask for confirmation."""
    if services.stops_mails.destination_of(token) is None:
        raise NotFoundException(_NO_LINK)
    return Template("notifications/stop.html", context={"token": token})


@post(_PAGE, media_type=MediaType.HTML, status_code=200)
async def stop(services: NamedDependency[Services], token: FromQuery[str] = "") -> Response[Any]:
    """Unsubscribe. A repeat changes nothing."""
    if not await services.stops_mails.stop(token):
        raise NotFoundException(_NO_LINK)
    return Template("notifications/stopped.html")


STOP_PAGES = Router(
    "/",
    route_handlers=[ask_to_stop, stop],
    include_in_schema=False,
    opt=dict(KEYED),
    request_max_body_size=_LARGEST_BODY,
)
