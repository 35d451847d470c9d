"""The API by which an app creates a Live Link to the printer of its connection."""

from typing import Final

from litestar import Router, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import ClientException
from litestar.params import JSONBody
from msgspec import Struct

from printreach.contract.app_answers import LiveCreated, LiveRequest
from printreach.contract.errors import ErrorCode
from printreach.hub.connections.app_calls import AppCaller
from printreach.hub.connections.live_links import LiveWish
from printreach.hub.denied import Denied, Reason
from printreach.web.api.callers import provide_caller, read_strictly
from printreach.web.problems import AnyRequest, ServiceFailure, answer_app_api_failure
from printreach.web.services import Services

_CODES: Final = {
    Reason.NO_SUCH_PRINTER: ErrorCode.CONNECTION_ENDED,
    Reason.NO_ACTIVE_PRINT: ErrorCode.NO_ACTIVE_PRINT,
    Reason.PRINTER_AWAY: ErrorCode.PRINTER_NOT_CONNECTED,
}


class LiveCreatedAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a LiveCreated."""

    status: int = 200
    result: LiveCreated


@post("/api/live/createfromappconnection", status_code=200)
async def create(
    request: AnyRequest,
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[LiveRequest | None] = None,
) -> LiveCreatedAnswer:
    """Make a page that shows the printer to whoever has its address, without names, for a while.

    613 where it should end with the current print and there is none.
    """
    wish = LiveRequest() if data is None else await read_strictly(request, type(data))
    made = await services.dashboard.live_links.make(
        caller.account.account_id,
        caller.row.printer.printer_id,
        LiveWish(
            hours=wish.expiration_hours,
            ends_with_print=wish.end_when_current_print_is_complete,
            connection_id=caller.connection.connection_id,
        ),
    )
    if isinstance(made, Denied):
        if made.reason in _CODES:
            raise ServiceFailure(_CODES[made.reason])
        raise ClientException(made.sentence)
    addresses = services.dashboard.addresses
    return LiveCreatedAnswer(
        result=LiveCreated(
            live_id=made.live_id,
            url=addresses.of_live_link(made.live_id),
            short_url=addresses.of_short_live_link(made.short_id),
        )
    )


LIVE_LINK_API = Router(
    "/",
    route_handlers=[create],
    dependencies={"caller": Provide(provide_caller)},
    exception_handlers={Exception: answer_app_api_failure},
    tags=["App Connections"],
)
