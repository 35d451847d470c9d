"""Webcam pictures by way of the service: browsers on our pages can't reach a printer otherwise.

A picture is sent as a picture whatever the printer says, and a stream only into an `img`, since
some browsers would render other content of a stream opened by itself.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.exceptions import HTTPException, PermissionDeniedException
from litestar.params import FromQuery
from litestar.response import Stream

from printreach.hub.leases import Access, AccessEnded
from printreach.hub.printers.pictures import take_picture
from printreach.languages import N_
from printreach.ports.printer_http import PrinterAnswer, PrinterAnswerBroken, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.web.disconnects import closing
from printreach.web.problems import AnyRequest
from printreach.web.security import SANDBOX
from printreach.web.services import Services

STILL_TIMEOUT_S: Final = 60.0
"""A sleeping camera takes long to wake up."""
_STREAM_TYPE: Final = re.compile(
    r"multipart/x-mixed-replace;\s*boundary=\"?([0-9A-Za-z'()+_,./:=? -]{1,70})\"?"
)


@get("/printers/{printer_id:str}/webcam/still")
async def still(
    owned: NamedDependency[OwnedPrinter],
    printer_access: NamedDependency[Access],
    services: NamedDependency[Services],
    index: FromQuery[int] = 0,
) -> Response[bytes]:
    """Return a current picture; for the default camera the printer's last one."""
    async with services.leases.hold(printer_access):
        picture = await take_picture(services.printer_http, owned, STILL_TIMEOUT_S, index)
    if isinstance(picture, PrinterRefusal):
        raise _no_picture(picture.sentence)
    if index == 0:
        await services.snapshots.note(owned.account_id, owned.printer_id, picture)
    return Response(picture, media_type="image/jpeg", headers=SANDBOX)


@get("/printers/{printer_id:str}/webcam/last")
async def last_picture(
    owned: NamedDependency[OwnedPrinter], services: NamedDependency[Services]
) -> Response[bytes]:
    """Return the last picture of a printer that is offline."""
    last = await services.snapshots.last(owned.account_id, owned.printer_id)
    if last is None:
        raise _no_picture(N_("No picture of this printer was kept."))
    return Response(last.jpeg, media_type="image/jpeg", headers=SANDBOX)


@get("/printers/{printer_id:str}/webcam/stream")
async def stream(
    request: AnyRequest,
    printer_access: NamedDependency[Access],
    services: NamedDependency[Services],
    index: FromQuery[int] = 0,
) -> Stream:
    """Stream pictures until the browser leaves, its access ends, or the limit is reached."""
    if request.headers.get("sec-fetch-dest", "image") != "image":
        raise PermissionDeniedException(N_("A webcam stream is shown inside a page"))
    query = {"index": str(index)}
    pieces = answer_then_pieces(services, printer_access, "/webcam/stream", query)
    answer = await answer_of(pieces)
    match = _STREAM_TYPE.fullmatch(answer.content_type)
    if match is None:
        raise _no_picture(N_("The printer's camera sent something other than pictures."))
    media_type = f'multipart/x-mixed-replace; boundary="{match[1]}"'
    shown = _until_broken(pieces)
    return Stream(shown, media_type=media_type, headers=SANDBOX, background=closing(shown))


def answer_then_pieces(
    services: Services, access: Access, command: str, query: dict[str, str]
) -> AsyncGenerator[PrinterAnswer | PrinterRefusal | bytes, None]:
    """Yield a raw answer of the printer, its head first and then its bytes, while the access lasts.

    The generator and the answer are closed once unused. Iterating raises AccessEnded.
    """
    assert access.printer is not None
    pieces = _raw_answer(services, access.printer, command, query)
    return services.leases.pieces(access, pieces)


async def _raw_answer(
    services: Services, printer: OwnedPrinter, command: str, query: dict[str, str]
) -> AsyncGenerator[PrinterAnswer | PrinterRefusal | bytes, None]:
    async with services.printer_http.open(printer, command, query) as answer:
        yield answer
        if isinstance(answer, PrinterAnswer):
            async for chunk in answer.chunks:
                yield chunk


async def answer_of(
    pieces: AsyncGenerator[PrinterAnswer | PrinterRefusal | bytes, None],
) -> PrinterAnswer:
    """Return the printer's raw answer, the first of the pieces. Raises HTTPException for a
    refusal.
    """
    answer = await anext(pieces)
    if isinstance(answer, PrinterAnswer):
        return answer
    await pieces.aclose()
    assert isinstance(answer, PrinterRefusal)
    raise _no_picture(answer.sentence)


async def _until_broken(
    pieces: AsyncGenerator[PrinterAnswer | PrinterRefusal | bytes, None],
) -> AsyncIterator[bytes]:
    """Yield pieces until the stream breaks off, as when a camera is switched off, or the access
    ends.

    Neither needs an error, since a picture more or less does no harm.
    """
    try:
        async for piece in pieces:
            assert isinstance(piece, bytes)
            yield piece
    except (PrinterAnswerBroken, AccessEnded):
        return
    finally:
        await pieces.aclose()


def _no_picture(sentence: str) -> HTTPException:
    return HTTPException(status_code=404, detail=sentence)


WEBCAMS = [still, last_picture, stream]
