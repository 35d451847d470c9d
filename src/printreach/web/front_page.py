"""The front page."""

from typing import Any

from litestar import MediaType, Response, route
from litestar.di import NamedDependency
from litestar.response import Redirect, Template

from printreach.hub.accounts.signing_up import NOT_SET_UP
from printreach.web.safe_methods import READ
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn


@route("/", http_method=READ, media_type=MediaType.HTML)
async def front_page(
    session: NamedDependency[SignedIn | None], services: NamedDependency[Services]
) -> Response[Any]:
    """Redirect to the printers, or show strangers what this service is and where to begin."""
    if session is not None:
        return Redirect("/printers", status_code=303)
    closed = await services.signing_up.closed()
    context = {"is_open": closed is None, "is_set_up": closed != NOT_SET_UP}
    return Template("front.html", context=context)
