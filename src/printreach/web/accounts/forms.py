"""What every form of ours does: read a few fields, answer with itself and what is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, assert_never
from urllib.parse import parse_qsl

from litestar import Response
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.response import Redirect, Template

from printreach.hub.denied import Denied
from printreach.hub.identity.sessions import Begun
from printreach.hub.tries import FORM_BY_ADDRESS
from printreach.rules.devices import DEVICE_LIFETIME
from printreach.rules.own_paths import parse_own_path
from printreach.rules.rate_limits import TooSoon
from printreach.rules.sessions import IDLE_TIME
from printreach.web.cookies import DEVICE, SESSION, STEP, Cookies
from printreach.web.problems import AnyRequest
from printreach.web.security import PUBLIC
from printreach.web.services import Services
from printreach.web.signed_in import NotSignedIn, SignedIn, in_words, too_many, visitor_of

MOST_FIELDS: Final = 100
"""Of one form; ours have less than half of them."""
LONGEST_FIELD: Final = 16 * 1024
"""What an authenticator says is the longest."""
ERROR_STATUS: Final = 400

_FORM_TYPE: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Fields:
    """What came with a form; a field that is missing is empty, one that came twice is the first."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def next_path(self) -> str:
        """Where to go on to afterwards: a page of ours."""
        return parse_own_path(self["next"])


class UnknownForm(ClientException):
    """The body is of another type than our forms are."""

    status_code = 415


async def provide_fields(
    request: AnyRequest,
    services: NamedDependency[Services],
    session: NamedDependency[SignedIn | None],
    jar: NamedDependency[Cookies],
) -> Fields:
    """The fields of a form, read once it is known who sends it.

    Raises NobodyIsSignedIn where the route isn't PUBLIC, TooManyRequestsException, AccessEnded, and
    what read_fields() does.
    """
    if session is None:
        if not is_public(request):
            raise NotSignedIn("Sign in first")
        visitor = visitor_of(request, jar)
        refused = await services.sign_in_limits.of_caller(FORM_BY_ADDRESS, visitor)
        if refused is not None:
            raise too_many(refused)
    fields = await read_fields(request)
    if session is not None:  # who sends slowly may be signed out by now
        await services.leases.look(session.access)
    return fields


def is_public(request: AnyRequest) -> bool:
    """Whether strangers may send the form of this route."""
    return all(request.route_handler.opt.get(key) == value for key, value in PUBLIC.items())


async def read_fields(request: AnyRequest) -> Fields:
    """Read the body as a form; what is too long for a field is cut.

    Raises ClientException where it is no form or has too many fields, and what the request's body()
    does.
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
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise ClientException(f"A form has at most {MOST_FIELDS} fields") from None
    values: dict[str, str] = {}
    for name, value in pairs:
        values.setdefault(name, value[:LONGEST_FIELD])
    return Fields(values)


def page(template: str, **context: Any) -> Template:
    """A page with a form that nobody has sent yet."""
    return Template(template, context={"errors": {}, **context})


def page_with_error(template: str, fault: Denied | TooSoon, field: str, **context: Any) -> Template:
    """The same page again, with what is wrong, at the field that it is about."""
    headers: dict[str, str] = {}
    status, sentence = ERROR_STATUS, ""
    match fault:
        case TooSoon():
            status, sentence = 429, f"Too many tries. Wait {in_words(fault.wait_seconds)}."
            headers = {"Retry-After": str(fault.wait_seconds)}
        case Denied():
            sentence = fault.sentence
        case _:
            assert_never(fault)
    context = {"errors": {field: sentence}, **context}
    return Template(template, context=context, status_code=status, headers=headers)


def signed_in_redirect(begun: Begun, next_path: str, jar: Cookies) -> Redirect:
    """Go on, signed in by a token that did not exist before."""
    answer = Redirect(parse_own_path(next_path), status_code=303)
    answer.set_cookie(jar.set(SESSION, begun.token, IDLE_TIME))
    answer.set_cookie(jar.end(STEP))
    remember_device(answer, begun.device_token, jar)
    return answer


def remember_device(answer: Response[Any], device_token: str, jar: Cookies) -> None:
    """Have the browser keep the cookie by which it is known after it is signed out."""
    if device_token:
        answer.set_cookie(jar.set(DEVICE, device_token, DEVICE_LIFETIME))


def step_redirect(path: str, token: str, lifetime: timedelta, jar: Cookies) -> Redirect:
    """Go on to the next step of signing in."""
    answer = Redirect(path, status_code=303)
    answer.set_cookie(jar.set(STEP, token, lifetime))
    return answer


def step_token(request: AnyRequest, jar: Cookies) -> str:
    """The token of a browser on its way in; empty where there is none."""
    return jar.read(request.headers.get("cookie", ""), STEP) or ""
