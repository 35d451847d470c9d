"""Pages that register, change and remove a developer's apps, the form of an app, and the page to
which the portal returns a developer who tries one: the parameters that came back.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from litestar import MediaType, Response, get, post, route
from litestar.di import NamedDependency
from litestar.exceptions import ClientException, PermissionDeniedException
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.hub.apps import InvalidDraft
from printreach.hub.denied import Denied
from printreach.languages import N_
from printreach.rules.apps import App
from printreach.rules.apps.registration import AppDraft
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import (
    ERROR_STATUS,
    REAUTH_FIELD,
    Fields,
    page,
    reauthenticate,
    reauthentication_context,
)
from printreach.web.problems import AnyRequest, or_404
from printreach.web.safe_methods import READ
from printreach.web.security import NO_REFERRER
from printreach.web.signed_in import SignedIn

_NEW: Final = "developer/new_app.html"
_REMOVE: Final = "developer/remove_app.html"

_FIELDS: Mapping[str, str] = {
    "app_id": "app-id",
    "name": "name",
    "return_prefixes": "returns",
    "logo_url": "logo",
    "max_connections": "most",
    "max_connections_a_printer": "most-a-printer",
}
"""From a draft's field to the form's field."""

_MAX_PARAMETERS: Final = 100
_PAGE: Final = "/appportal/v1/test"
_COUNTED: Final = re.compile(r"[0-9]{1,5} characters")
_CONNECTION_ID: Final = re.compile(r"[a-z2-7]{26}")


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedApp:
    """The values of the form. returns: one address per line."""

    app_id: str = ""
    name: str = ""
    returns: str = ""
    returns_to_lan: bool = False
    logo: str = ""
    takes_other_logos: bool = True
    most: str = ""
    most_a_printer: str = ""


def typed_by(fields: Fields) -> TypedApp:
    """Return the values that were sent."""
    return TypedApp(
        app_id=fields["app-id"].strip(),
        name=" ".join(fields["name"].split()),
        returns=fields["returns"].strip(),
        returns_to_lan=fields["lan"] == "yes",
        logo=fields["logo"].strip(),
        takes_other_logos=fields["other-logos"] == "yes",
        most=fields["most"].strip(),
        most_a_printer=fields["most-a-printer"].strip(),
    )


def typed_of(app: App) -> TypedApp:
    """Return the values of a stored app."""
    return TypedApp(
        app_id=app.app_id,
        name=app.name,
        returns="\n".join(app.return_prefixes),
        returns_to_lan=app.returns_to_lan,
        logo=app.logo_url or "",
        takes_other_logos=app.takes_other_logos,
        most=_text(app.max_connections),
        most_a_printer=_text(app.max_connections_a_printer),
    )


def draft_of(typed: TypedApp) -> AppDraft:
    """Parse a draft. An invalid number becomes one that is out of range."""
    return AppDraft(
        app_id=typed.app_id,
        name=typed.name,
        return_prefixes=tuple(typed.returns.split()),
        returns_to_lan=typed.returns_to_lan,
        logo_url=typed.logo or None,
        takes_other_logos=typed.takes_other_logos,
        max_connections=_number(typed.most),
        max_connections_a_printer=_number(typed.most_a_printer),
    )


def errors_at_fields(errors: Mapping[str, str]) -> dict[str, str]:
    """Return the errors by the form's field names."""
    return {_FIELDS[name]: sentence for name, sentence in errors.items()}


def _number(text: str) -> int | None:
    if not text:
        return None
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


@get("/developer", media_type=MediaType.HTML)
async def developer_page(signed_in: NamedDependency[SignedIn]) -> Response[Any]:
    """List apps and keys."""
    account_id = signed_in.account_id
    keys = await signed_in.services.detection_keys.all(account_id)
    return page(
        "developer/developer.html",
        apps=await signed_in.services.own_apps.all(account_id),
        may_register=signed_in.services.own_apps.may_register(signed_in.account),
        keys=[key for key in keys if not key.is_disabled],
        disabled_keys=[key for key in keys if key.is_disabled],
    )


@get("/developer/register", media_type=MediaType.HTML)
async def new_app_page(signed_in: NamedDependency[SignedIn]) -> Template:
    """Show the empty form."""
    _require_permission(signed_in)
    return _form(_NEW, TypedApp(), {}, **reauthentication_context(signed_in))


@post("/developer/register", media_type=MediaType.HTML)
async def register(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Register the app."""
    _require_permission(signed_in)
    typed, shown = typed_by(fields), reauthentication_context(signed_in)
    # An operator's app is shown to people as checked, so their cookie alone must not make one.
    refused = await reauthenticate(signed_in, fields)
    if refused is not None:
        return page(_NEW, refused, REAUTH_FIELD, typed=typed, **shown)
    made = await signed_in.services.own_apps.register(signed_in.account, draft_of(typed))
    match made:
        case InvalidDraft():
            return _form(_NEW, typed, made.errors, **shown)
        case Denied():
            raise PermissionDeniedException(made.sentence.rstrip("."))
        case App():
            return redirect_with_flash(f"/developer/apps/{made.app_id}", "registered")


@get("/developer/apps/{app_id:str}", media_type=MediaType.HTML)
async def app_page(app_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Show the form with the app's values."""
    listed = or_404(await signed_in.services.own_apps.one(signed_in.account_id, app_id))
    shown = {"listed": listed, **reauthentication_context(signed_in)}
    return _form("developer/app.html", typed_of(listed.app), {}, **shown)


@post("/developer/apps/{app_id:str}", media_type=MediaType.HTML)
async def change(
    app_id: FromPath[str], fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Change the app."""
    account_id, apps = signed_in.account_id, signed_in.services.own_apps
    typed = typed_by(fields)
    shown = {
        "listed": or_404(await apps.one(account_id, app_id)),
        **reauthentication_context(signed_in),
    }
    refused = await reauthenticate(signed_in, fields)
    if refused is not None:
        return page("developer/app.html", refused, REAUTH_FIELD, typed=typed, **shown)
    changed = or_404(await apps.change(account_id, app_id, draft_of(typed)))
    if isinstance(changed, InvalidDraft):
        return _form("developer/app.html", typed, changed.errors, **shown)
    return redirect_with_flash(f"/developer/apps/{app_id}", "changed")


@get("/developer/apps/{app_id:str}/remove", media_type=MediaType.HTML)
async def ask_to_remove(app_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Ask before the app's users lose their connections."""
    listed = or_404(await signed_in.services.own_apps.one(signed_in.account_id, app_id))
    return page(_REMOVE, listed=listed, **reauthentication_context(signed_in))


@post("/developer/apps/{app_id:str}/remove", media_type=MediaType.HTML)
async def remove(
    app_id: FromPath[str], fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Remove the app; its connections end."""
    account_id, apps = signed_in.account_id, signed_in.services.own_apps
    listed = or_404(await apps.one(account_id, app_id))
    refused = await reauthenticate(signed_in, fields)
    if refused is not None:
        return page(
            _REMOVE,
            refused,
            REAUTH_FIELD,
            listed=listed,
            **reauthentication_context(signed_in),
        )
    or_404(await apps.remove(account_id, app_id))
    return redirect_with_flash("/developer", "removed")


@get("/developer/apps/{app_id:str}/try", media_type=MediaType.HTML)
async def try_page(app_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Template:
    """Show links into the portal as the app would open it, and the parameters that it returns."""
    app = or_404(await signed_in.services.own_apps.one(signed_in.account_id, app_id)).app
    places = [signed_in.services.portal.core.addresses.of_test_page(), *app.return_prefixes]
    links = [
        (place, f"/appportal/v1?{urlencode({'appId': app_id, 'returnUrl': place})}")
        for place in places
    ]
    context = {"app": app, "links": links, "parameters": COMPLETION}
    return Template("developer/try.html", context=context)


def _require_permission(signed_in: SignedIn) -> None:
    if not signed_in.services.own_apps.may_register(signed_in.account):
        raise PermissionDeniedException("Only the operators of this service register apps")


def _form(
    template: str,
    typed: TypedApp,
    errors: Mapping[str, str],
    **shown: Any,
) -> Template:
    context = {
        "typed": typed,
        "errors": errors_at_fields(errors),
        **shown,
    }
    return Template(template, context=context, status_code=ERROR_STATUS if errors else 200)


OWN_APPS = [
    *(developer_page, new_app_page, register, app_page, change),
    *(ask_to_remove, remove, try_page),
]


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
