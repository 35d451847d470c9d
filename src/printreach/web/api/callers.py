"""Calls of the App APIs: the calling connection, and the body.

The dependency `caller` of a route is the App Connection. Bodies are parsed strictly: the framework
would accept "6" as a number, and true as one.
"""

from typing import Annotated, Final, TypeVar

import msgspec
from litestar.di import NamedDependency
from litestar.exceptions import ValidationException
from litestar.params import HeaderParameter

from printreach.contract.app_answers import TokenBody
from printreach.contract.codec import sentence_of
from printreach.contract.errors import ErrorCode
from printreach.hub.connections.app_calls import AppCaller
from printreach.web.problems import AnyRequest, ServiceFailure
from printreach.web.requests import note_caller
from printreach.web.services import Services
from printreach.web.signed_in import too_many

T = TypeVar("T")

UNKNOWN: Final = "No App Connection has this AppToken."

AppToken = Annotated[
    str | None,
    HeaderParameter(name="AppToken", description="The token of the App Connection."),
]


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
    refused = await services.request_limits.take(
        caller.account.account_id, caller.connection.app_id or ""
    )
    if refused is not None:
        raise too_many(refused)
    note_caller(request, caller.account.account_id)
    return caller


async def _token_in_body(request: AnyRequest) -> str | None:
    """Return the token in the body; any other fault in the body is reported when the handler reads
    it.
    """
    try:
        return msgspec.json.decode(await request.body(), type=TokenBody).app_token
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


async def read_strictly(request: AnyRequest, kind: type[T]) -> T:
    """Parse the body strictly after the framework has read it. Raises ValidationException."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.ValidationError as error:
        raise ValidationException(sentence_of(error, kind).removesuffix(".")) from None
