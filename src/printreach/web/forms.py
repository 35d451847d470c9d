"""Common parts of all forms: reading fields, pages with errors, reauthentication."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.response import Template

from printreach.hub.denied import Denied
from printreach.hub.tries import FORM_BY_ADDRESS
from printreach.languages import N_
from printreach.rules.accounts.sessions import is_fresh
from printreach.rules.own_paths import parse_own_path
from printreach.rules.rate_limits import TooSoon
from printreach.web.cookies import Cookies
from printreach.web.problems import AnyRequest
from printreach.web.security import PUBLIC
from printreach.web.services import Services
from printreach.web.signed_in import (
    NotSignedIn,
    SignedIn,
    in_words,
    raise_if_too_soon,
    visitor_of,
)

MAX_FIELDS: Final = 100
"""Fields per form; ours have less than half of them."""
LONGEST_FIELD: Final = 16 * 1024
"""Characters per field; the longest are responses of authenticators."""
ERROR_STATUS: Final = 400
REAUTH_FIELD: Final = "password"
"""The form field of the password with which a person reauthenticates.

On a page with several forms each has its own field name.
"""

_FORM_TYPE: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a form. A missing field is empty; of a repeated one the first counts."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def next_path(self) -> str:
        """The page of ours to go on to afterwards."""
        return parse_own_path(self["next"])


class UnknownForm(ClientException):
    """The body has another content type than a form."""

    status_code = 415


async def provide_fields(
    request: AnyRequest,
    services: NamedDependency[Services],
    session: NamedDependency[SignedIn | None],
    jar: NamedDependency[Cookies],
) -> Fields:
    """Return the fields of a form, which is read once its sender is known.

    Raises NotSignedIn if the route isn't PUBLIC, TooManyRequestsException, AccessEnded, and the
    exceptions of read_fields().
    """
    if session is None:
        if not is_public(request):
            raise NotSignedIn("Sign in first")
        visitor = visitor_of(request, jar)
        raise_if_too_soon(await services.sign_in_limits.of_caller(FORM_BY_ADDRESS, visitor))
    fields = await read_fields(request)
    if session is not None:  # the session may have ended while the body arrived
        await services.leases.look(session.access)
    return fields


def is_public(request: AnyRequest) -> bool:
    """Return whether the form of this route may be sent without being signed in."""
    return all(request.route_handler.opt.get(key) == value for key, value in PUBLIC.items())


async def read_fields(request: AnyRequest) -> Fields:
    """Read the body as a form; values that are too long are cut.

    Raises ClientException if it is not a form or has too many fields, and the exceptions of the
    request's body().
    """
    body = await request.body()
    if not body:
        return Fields({})
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM_TYPE:
        raise UnknownForm(f"A form is sent as {_FORM_TYPE}")
    try:
        pairs = parse_qsl(
            body.decode(errors="replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise ClientException(f"A form has at most {MAX_FIELDS} fields") from None
    values: dict[str, str] = {}
    for name, value in pairs:
        values.setdefault(name, value[:LONGEST_FIELD])
    return Fields(values)


def page(
    template: str,
    fault: Denied | TooSoon | None = None,
    field: str = REAUTH_FIELD,
    **context: Any,
) -> Template:
    """Render a page with a form. fault: the error at the field of a form that was sent."""
    if fault is None:
        return Template(template, context={"errors": {}, **context})
    status, headers = ERROR_STATUS, dict[str, str]()
    if isinstance(fault, TooSoon):
        status, headers = 429, {"Retry-After": str(fault.wait_seconds)}
    context = {"errors": {field: sentence_of(fault)}, **context}
    return Template(template, context=context, status_code=status, headers=headers)


def sentence_of(fault: Denied | TooSoon) -> str:
    """Return the error at a field."""
    if isinstance(fault, TooSoon):
        return N_("Too many attempts. Wait %(time)s.", time=in_words(fault.wait_seconds))
    return fault.sentence


async def reauthenticate(
    signed_in: SignedIn, fields: Fields, field: str = REAUTH_FIELD
) -> Denied | TooSoon | None:
    """Check the password in the form; None if it is right.

    An account without a password needs a fresh session instead. Required before a change that
    outlives a browser's session, such as a key, and before an act that can't be undone.
    """
    proof = signed_in.services.reauthentication
    return await proof.of_owner(signed_in.account, signed_in.session, fields[field])


def reauthentication_context(signed_in: SignedIn) -> dict[str, Any]:
    """Return the template context of a form that asks for the password."""
    return {
        "me": signed_in.account,
        "is_fresh": is_fresh(signed_in.session, signed_in.services.clock.now()),
    }
