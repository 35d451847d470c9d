"""Timelapses: the video of a print at an address of its own, and its deletion."""

import re
from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from typing import Annotated, Final

from litestar import MediaType, Response, get, post, route
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException, TooManyRequestsException
from litestar.params import FromPath, QueryParameter
from litestar.response import Redirect, Stream, Template

from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_
from printreach.limiters.slots import Slots
from printreach.rules.printers import OwnedPrinter
from printreach.rules.prints.timelapse import PrintKey
from printreach.rules.rate_limits import Limit, networks_of
from printreach.web.disconnects import closing, ends_slow_readers
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.prints import PUBLIC_HEADERS
from printreach.web.prints.rows import print_path
from printreach.web.problems import AnyRequest
from printreach.web.routing import DeclaredRouter
from printreach.web.safe_methods import READ
from printreach.web.security import FORM
from printreach.web.services import Services
from printreach.web.signed_in import raise_if_too_soon, visitor_of

BY_ADDRESS: Final = Limit(name="timelapse", at_once=100, every=timedelta(seconds=0.5))
MAX_SENT: Final = 16
"""Videos that are being sent. Each is in memory until its reader has taken it."""
MAX_SENT_TO_ADDRESS: Final = 6
"""A player asks for several ranges of one video at once."""
_SUFFIX: Final = ".mp4"
_RANGE: Final = re.compile(r"bytes=(\d{0,12})-(\d{0,12})", re.ASCII)
_PIECE_BYTES: Final = 256 * 1024


@get("/printers/{printer_id:str}/history/timelapse/delete", media_type=MediaType.HTML)
async def ask_to_delete_timelapse(
    seen: NamedDependency[SeenPrinter],
    print_id: Annotated[str, QueryParameter(name="id")] = "",
) -> Template:
    """Ask before the video of a print is deleted."""
    printer_id = seen.printer.printer_id
    context = {
        "action": f"/printers/{printer_id}/history/timelapse/delete",
        "print_id": print_id,
        "back": print_path(printer_id, print_id),
    }
    return Template("history/delete_timelapse.html", context=context)


@post("/printers/{printer_id:str}/history/timelapse/delete")
async def delete_timelapse(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Redirect:
    """Delete the video of a print."""
    print_id = fields["print_id"]
    key = PrintKey(account_id=owned.account_id, printer_id=owned.printer_id, print_id=print_id)
    await services.timelapses.delete(key)
    return redirect_with_flash(print_path(owned.printer_id, print_id), "timelapse-deleted")


@route("/timelapses/{name:str}", http_method=READ, middleware=[ends_slow_readers])
async def timelapse_video(
    request: AnyRequest,
    name: FromPath[str],
    services: NamedDependency[Services],
    sent: NamedDependency[Slots],
) -> Stream | Response[bytes]:
    """Return a video while it is kept, or the range of it that is asked for.

    Safari plays no video of a server without ranges. Those that are no range of bytes are ignored,
    as RFC 9110 has it (14.2).
    """
    address = visitor_of(request).address
    raise_if_too_soon(services.caller_tries.take_by_address(BY_ADDRESS, address))
    networks = networks_of(address)
    limits = {network.name: MAX_SENT_TO_ADDRESS * network.share for network in networks}
    if not sent.are_free(limits):
        raise TooManyRequestsException(
            N_("Too many viewers at once"), headers={"Retry-After": "10"}
        )
    video = await services.timelapses.video(name.removesuffix(_SUFFIX))
    if video is None or not name.endswith(_SUFFIX):
        raise NotFoundException(N_("There is no such video, or it is no longer kept"))
    headers = {**PUBLIC_HEADERS, "Accept-Ranges": "bytes"}
    asked = _RANGE.fullmatch(request.headers.get("range", ""))
    if asked is None or asked[1] == asked[2] == "":
        return _sent(video, 200, headers, sent, limits)
    first, last = _ends(asked[1], asked[2], len(video))
    if first > last:
        headers["Content-Range"] = f"bytes */{len(video)}"
        return Response(b"", status_code=416, media_type="video/mp4", headers=headers)
    headers["Content-Range"] = f"bytes {first}-{last}/{len(video)}"
    return _sent(video[first : last + 1], 206, headers, sent, limits)


def timelapse_pages() -> DeclaredRouter:
    """Return a router for one application, with its own count of videos that are being sent."""
    sent = Slots(MAX_SENT)
    return DeclaredRouter(
        "/",
        route_handlers=[ask_to_delete_timelapse, delete_timelapse, timelapse_video],
        dependencies={"sent": Provide(lambda: sent, sync_to_thread=False)},
        include_in_schema=False,
        opt=dict(FORM),
    )


def _sent(
    part: bytes, status: int, headers: Mapping[str, str], sent: Slots, limits: Mapping[str, int]
) -> Stream:
    pieces = _pieces(part, sent, limits)
    return Stream(
        pieces,
        status_code=status,
        media_type="video/mp4",
        headers={**headers, "Content-Length": str(len(part))},
        background=closing(pieces),
    )


async def _pieces(
    part: bytes, sent: Slots, limits: Mapping[str, int]
) -> AsyncGenerator[bytes, None]:
    """Yield the bytes, and count the reader while they are read.

    The count is in here, since a response that is never started would not be counted down.
    """
    if not sent.take(limits):
        return
    try:
        for at in range(0, len(part), _PIECE_BYTES):
            yield part[at : at + _PIECE_BYTES]
    finally:
        sent.release(limits)


def _ends(first: str, last: str, size: int) -> tuple[int, int]:
    """Return the first and the last byte of a range; the last comes before the first if it has
    none. One without a first byte is as many as it says of the end.
    """
    if not first:
        return max(0, size - int(last)), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1
