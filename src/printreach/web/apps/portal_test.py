"""The page to which the portal returns a developer who tries it: the parameters that came back."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from litestar import MediaType, route
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.response import Template

from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import READ
from printreach.web.security import NO_REFERRER
from printreach.web.signed_in import SignedIn

_MAX_PARAMETERS: Final = 100
_CONNECTION_ID: Final = re.compile(r"[a-z2-7]{26}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A completion parameter. is_secret: its value is for the app alone."""

    name: str
    meaning: str
    is_secret: bool = False
    is_always: bool = True


COMPLETION: Final = (
    Parameter("success", "true; or false, with an error."),
    Parameter("id", "Of the App Connection. Keep it with the printer."),
    Parameter("url", "Of the printer, in place of its address at home."),
    Parameter("printername", "What its owner calls the printer."),
    Parameter("userPrinterAccessUrl", "The printer's page here, for people."),
    Parameter("printerLastKnownLocalIp", "Its address at home, where known.", is_always=False),
    Parameter("authBasicHttpUser", "For that url, by HTTP Basic.", is_secret=True),
    Parameter("authBasicHttpPassword", "For that url, by HTTP Basic.", is_secret=True),
    Parameter("authBearerToken", "Or by Bearer; either works alone.", is_secret=True),
    Parameter("appApiToken", "For App APIs, in the header AppToken.", is_secret=True),
    Parameter("hostApiKey", "Where asked for, allowed and made.", is_secret=True, is_always=False),
)
"""The parameters that an app receives when the user has agreed."""


@dataclass(frozen=True, slots=True)
class ReceivedParameter:
    """A parameter and its value. shown: "" if it did not come."""

    parameter: Parameter
    shown: str


@route("/appportal/v1/test", http_method=READ, media_type=MediaType.HTML)
async def show_parameters(
    request: AnyRequest, session: NamedDependency[SignedIn | None]
) -> Template:
    """Show which parameters came. Secrets are only counted, never written into the page."""
    parameters = _parameters(request)
    connection_id = parameters.get("id", "")
    is_theirs = session is not None and _CONNECTION_ID.fullmatch(connection_id) is not None
    context = {
        "is_connected": parameters.get("success") == "true",
        "error": parameters.get("error", ""),
        "sentence": parameters.get("errorDescription", ""),
        "came": [
            ReceivedParameter(parameter, _shown(parameter, parameters)) for parameter in COMPLETION
        ],
        "end_href": f"/connections/{connection_id}/end" if is_theirs else "",
        "is_signed_in_here": session is not None,
    }
    return Template("developer/arrived.html", context=context, headers=dict(NO_REFERRER))


def _parameters(request: AnyRequest) -> dict[str, str]:
    query = request.scope["query_string"].decode("latin-1")
    try:
        return dict(parse_qsl(query, max_num_fields=_MAX_PARAMETERS))
    except ValueError:
        raise ClientException("The address has too many parameters") from None


def _shown(parameter: Parameter, parameters: dict[str, str]) -> str:
    value = parameters.get(parameter.name, "")
    if not parameter.is_secret or not value:
        return value
    return f"{len(value)} characters"
