"""The API by which an app asks about its own connection and makes Live Links by it.

The dependency `caller` of all App APIs is the App Connection that calls. Bodies are parsed
strictly: the framework would accept "6" as a number, and true as one.
"""

from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from litestar import get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import ClientException, ValidationException
from litestar.openapi.spec import Operation, Reference, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import HeaderParameter, JSONBody
from msgspec import Struct

from printreach.contract.app_answers import (
    AppInfo,
    LiveCreated,
    LiveRequest,
    TokenBody,
    WatchStatus,
)
from printreach.contract.codec import BadArguments, decode_arguments
from printreach.contract.errors import ErrorCode
from printreach.hub.connections.app_calls import AppCaller
from printreach.hub.connections.live_links import LiveWish
from printreach.hub.denied import Denied, Reason
from printreach.web.problems import (
    AnyRequest,
    ServiceFailure,
    answer_app_api_failure,
    described_failures,
)
from printreach.web.requests import note_caller, refuse_encoded_json
from printreach.web.routing import DeclaredRouter
from printreach.web.services import Services
from printreach.web.signed_in import raise_if_too_soon

T = TypeVar("T")

UNKNOWN: Final = "No App Connection has this AppToken."

_CODES: Final = {
    Reason.NO_SUCH_PRINTER: ErrorCode.CONNECTION_ENDED,
    Reason.NO_ACTIVE_PRINT: ErrorCode.NO_ACTIVE_PRINT,
    Reason.PRINTER_AWAY: ErrorCode.PRINTER_NOT_CONNECTED,
}

AppToken = Annotated[
    str | None, HeaderParameter(name="AppToken", description="The token of the App Connection.")
]


CALLERS_SCHEME: Final = "AppToken"
"""The name in the OpenAPI document of how an app proves which connection it is."""
FAILURES_OF_CALLERS: Final = (
    400,
    429,
    *(ErrorCode.UNKNOWN, ErrorCode.CONNECTION_NOT_FOUND, ErrorCode.CONNECTION_ENDED),
    ErrorCode.NOT_A_SUPPORTER,
)
"""The failures of every call that needs an AppToken."""


@dataclass
class NeedsAppToken(Operation):
    """Documents that a token is required, in the header, and that a body with it may be left out.

    It is no parameter here: programs that read the document keep it with their credentials.
    """

    def __post_init__(self) -> None:
        self.security = [{CALLERS_SCHEME: []}]
        self.parameters = None
        if isinstance(self.request_body, RequestBody):
            self.request_body.required = False
            for content in self.request_body.content.values():
                content.schema = _without_null(content.schema)


def _without_null(schema: Schema | Reference | None) -> Schema | Reference | None:
    """Return the one kind that isn't null, if there is one.

    That a body may be left out is said beside it. Programs that are generated from a kind or null
    send neither where they are given no body.
    """
    choices = (schema.one_of or ()) if isinstance(schema, Schema) else ()
    kinds = [
        one for one in choices if isinstance(one, Reference) or one.type is not OpenAPIType.NULL
    ]
    return kinds[0] if len(kinds) == 1 else schema


@dataclass
class NeedsBody(NeedsAppToken):
    """Documents a call that needs its body, too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.request_body, RequestBody)
        self.request_body.required = True


async def provide_caller(
    request: AnyRequest, services: NamedDependency[Services], app_token: AppToken = None
) -> AppCaller:
    """Return the calling connection, by its token in the header or in the body of a POST.

    Raises ValidationException, ServiceFailure and TooManyRequestsException.
    """
    token = app_token or (await _token_in_body(request) if request.method == "POST" else None)
    if not token:
        raise ValidationException("AppToken is missing")
    caller = await services.app_calls.caller(token)
    if isinstance(caller, ErrorCode):
        unknown = caller is ErrorCode.CONNECTION_NOT_FOUND
        raise ServiceFailure(caller, UNKNOWN if unknown else None)
    raise_if_too_soon(
        await services.request_limits.take(
            caller.account.account_id, caller.connection.app_id or ""
        )
    )
    note_caller(request, caller.account.account_id, caller.connection.app_id or "")
    return caller


async def _token_in_body(request: AnyRequest) -> str | None:
    """Return the token in the body; any other fault in the body is reported when the handler reads
    it.
    """
    refuse_encoded_json(request)
    try:
        return decode_arguments(await request.body(), TokenBody).app_token
    except BadArguments:
        return None


async def read_strictly(request: AnyRequest, kind: type[T]) -> T:
    """Parse the body strictly after the framework has read it. Raises ValidationException."""
    try:
        return decode_arguments(await request.body(), kind)
    except BadArguments as error:
        raise ValidationException(str(error).removesuffix(".")) from None


class AppInfoAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of an AppInfo."""

    status: int = 200
    result: AppInfo


class WatchStatusAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a WatchStatus."""

    status: int = 200
    result: WatchStatus


class LiveCreatedAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The envelope of a LiveCreated."""

    status: int = 200
    result: LiveCreated


@get(
    "/api/appconnection/info",
    sync_to_thread=False,
    operation_class=NeedsAppToken,
    responses=described_failures(*FAILURES_OF_CALLERS),
)
def info(caller: NamedDependency[AppCaller], services: NamedDependency[Services]) -> AppInfoAnswer:
    """Tell an app about the printer of its connection, and what one request may carry."""
    return AppInfoAnswer(result=services.app_calls.info(caller))


@post(
    ["/api/detector/GetStatusFromAppConnection", "/api/gadget/GetStatusFromAppConnection"],
    status_code=200,
    operation_class=NeedsAppToken,
    responses=described_failures(*FAILURES_OF_CALLERS),
)
async def detector_status(
    caller: NamedDependency[AppCaller],
    services: NamedDependency[Services],
    data: JSONBody[TokenBody | None] = None,
) -> WatchStatusAnswer:
    """Tell an app what the failure detector says of the print under way."""
    del data  # declared so that it is described and checked; provide_caller() has read its token
    return WatchStatusAnswer(result=await services.app_calls.detector_status(caller))


@post(
    "/api/live/createfromappconnection",
    status_code=200,
    operation_class=NeedsAppToken,
    responses=described_failures(
        *(*FAILURES_OF_CALLERS, ErrorCode.PRINTER_NOT_CONNECTED, ErrorCode.NO_ACTIVE_PRINT)
    ),
)
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
    made = await services.live_links.make(
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
    addresses = services.addresses
    return LiveCreatedAnswer(
        result=LiveCreated(
            live_id=made.live_id,
            url=addresses.of_live_link(made.live_id),
            short_url=addresses.of_short_live_link(made.short_id),
        )
    )


APP_CONNECTION_API = DeclaredRouter(
    "/",
    route_handlers=[info, detector_status, create],
    dependencies={"caller": Provide(provide_caller)},
    exception_handlers={Exception: answer_app_api_failure},
    tags=["App Connections"],
)
