"""Pictures of events at secret addresses, without sign-in."""

from datetime import timedelta
from typing import Final

from litestar import Response, Router, route
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from printreach.rules.rate_limits import Limit
from printreach.web.pages import READ
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import too_many, visitor_of

BY_ADDRESS: Final = Limit(name="snapshot", at_once=300, every=timedelta(seconds=0.1))
_SUFFIX: Final = ".jpg"
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    # The address is the secret; those who have it may embed the picture in their own pages.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, noarchive",
    "Cache-Control": "private, max-age=3600",
}


@route("/snapshots/{name:str}", http_method=READ)
async def snapshot(
    request: AnyRequest, name: FromPath[str], services: NamedDependency[Services]
) -> Response[bytes]:
    """Return a picture while it is stored."""
    address = visitor_of(request).address
    refused = services.caller_tries.take_by_address(BY_ADDRESS, address)
    if refused is not None:
        raise too_many(refused)
    snapshot_id = name.removesuffix(_SUFFIX)
    picture = await services.dashboard.snapshots.public(snapshot_id)
    if picture is None or not name.endswith(_SUFFIX):
        raise NotFoundException("There is no such picture, or it is no longer kept")
    return Response(picture, media_type="image/jpeg", headers=_HEADERS)


SNAPSHOTS: Final = Router("/", route_handlers=[snapshot], include_in_schema=False)
