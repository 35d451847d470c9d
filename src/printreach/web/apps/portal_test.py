"""The page to which the portal returns a developer who tries it: the parameters that came back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from litestar import MediaType, Response, route
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.response import Redirect, Template

from printreach.languages import N_
from printreach.web.problems import AnyRequest
from printreach.web.safe_methods import READ
from printreach.web.security import NO_REFERRER
from printreach.web.signed_in import SignedIn

_MAX_PARAMETERS: Final = 100
_PAGE: Final = "/appportal/v1/test"
_COUNTED: Final = re.compile(r"[0-9]{1,5} characters")
_CONNECTION_ID: Final = re.compile(r"[a-z2-7]{26}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A completion parameter. is_secret: its value is for the app alone."""

    name: str
    meaning: str
    is_secret: bool = False
    is_always: bool = True


COMPLETION: Final = (
    Parameter("success", N_("true; or false, with an error.")),
    Parameter("id", N_("Of the App Connection. Keep it with the printer.")),
    Parameter("url", N_("Of the printer, in place of its address at home.")),
    Parameter("printername", N_("What its owner calls the printer.")),
    Parameter("userPrinterAccessUrl", N_("The printer's page here, for people.")),
    Parameter("printerLastKnownLocalIp", N_("Its address at home, where known."), is_always=False),
    Parameter("authBasicHttpUser", N_("For that url, by HTTP Basic."), is_secret=True),
    Parameter("authBasicHttpPassword", N_("For that url, by HTTP Basic."), is_secret=True),
    Parameter("authBearerToken", N_("Or by Bearer; either works alone."), is_secret=True),
    Parameter("appApiToken", N_("For App APIs, in the header AppToken."), is_secret=True),
    Parameter(
        "hostApiKey", N_("Where asked for, allowed and made."), is_secret=True, is_always=False
    ),
)
"""The parameters that an app receives when the user has agreed."""


@dataclass(frozen=True, slots=True)
class ReceivedParameter:
    """A parameter and its value. shown: "" if it did not come."""

    parameter: Parameter
    shown: str


@route(_PAGE, http_method=READ, media_type=MediaType.HTML)
async def show_parameters(
    request: AnyRequest, session: NamedDependency[SignedIn | None]
) -> Response[Any]:
    """Show which parameters came. Secrets are only counted, never written into the page.

    They stay in no address either: the browser's history keeps the one without them.
    """
    parameters = _parameters(request)
    counted = _without_secrets(parameters)
    if counted != parameters:
        return Redirect(f"{_PAGE}?{urlencode(counted)}", status_code=303, headers=dict(NO_REFERRER))
    connection_id = parameters.get("id", "")
    is_theirs = session is not None and _CONNECTION_ID.fullmatch(connection_id) is not None
    context = {
        "is_connected": parameters.get("success") == "true",
        "error": parameters.get("error", ""),
        "sentence": parameters.get("errorDescription", ""),
        "came": [
            ReceivedParameter(parameter, parameters.get(parameter.name, ""))
            for parameter in COMPLETION
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


def _without_secrets(parameters: Mapping[str, str]) -> dict[str, str]:
    """Put their length in place of secrets, where that was not done yet."""
    # Some apps look for names in lower case, so parameters come in both spellings.
    secret = {parameter.name.lower() for parameter in COMPLETION if parameter.is_secret}
    return {
        name: f"{len(value)} characters"
        if name.lower() in secret and value and not _COUNTED.fullmatch(value)
        else value
        for name, value in parameters.items()
    }
