"""The pages of signing in and out."""

from typing import Any, assert_never

from litestar import MediaType, Response, Router, get, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.hub.accounts.sessions import NewSession
from printreach.hub.accounts.signing_in import NeedsCode, Unconfirmed
from printreach.hub.accounts.signing_up import NOT_SET_UP
from printreach.hub.denied import Denied, Reason
from printreach.rules.accounts.steps import STEP_LIFETIME
from printreach.rules.own_paths import code_path, parse_own_path, sign_in_path
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.forms import (
    Fields,
    mail_sent_redirect,
    mailed_to,
    page,
    page_with_error,
    provide_fields,
    signed_in_redirect,
    step_redirect,
    step_token,
)
from printreach.web.cookies import SESSION, Cookies
from printreach.web.problems import AnyRequest
from printreach.web.security import PUBLIC
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, visitor_of

_SIGN_IN = "account/sign_in.html"
_CODE = "account/code.html"
_SENT = "/signin/sent"
_UNCONFIRMED = "account/unconfirmed.html"


async def sign_in_form(
    services: Services,
    next_path: str,
    fault: Denied | TooSoon | None = None,
    email: str = "",
    *,
    field: str = "email",
) -> Template:
    """Render the page that asks for the password. fault: the error to show at the field."""
    closed = await services.signing_up.closed()
    shown = {"next": next_path, "email": email, "is_set_up": closed != NOT_SET_UP}
    return (
        page(_SIGN_IN, **shown)
        if fault is None
        else page_with_error(_SIGN_IN, fault, field, **shown)
    )


@get("/signin", media_type=MediaType.HTML)
async def sign_in_page(
    session: NamedDependency[SignedIn | None],
    services: NamedDependency[Services],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Ask for mail address and password, or go on if somebody is signed in."""
    path = parse_own_path(next)
    if session is not None:
        return Redirect(path, status_code=303)
    return await sign_in_form(services, path)


@post("/signin", media_type=MediaType.HTML)
async def sign_in(
    request: AnyRequest,
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Check the password; sign in, or go on to the second step."""
    visitor = visitor_of(request, jar)
    outcome = await services.signing_in.with_password(fields["email"], fields["password"], visitor)
    match outcome:
        case NewSession():
            await end_session(request, services, jar)
            return signed_in_redirect(outcome, fields.next_path, jar)
        case NeedsCode(token):
            return step_redirect(code_path(fields.next_path), token, STEP_LIFETIME, jar)
        case Unconfirmed():
            await services.signing_up.send_again(outcome.account, fields.next_path, visitor)
            email = outcome.account.email
            return mail_sent_redirect(_SENT, email, fields.next_path, jar)
        case Denied() | TooSoon():
            return await sign_in_form(services, fields.next_path, outcome, fields["email"])
        case _:
            assert_never(outcome)


@get(_SENT, media_type=MediaType.HTML)
async def unconfirmed_page(request: AnyRequest, jar: NamedDependency[Cookies]) -> Response[Any]:
    """Say where the mail went that completes the account of this sign-in."""
    email = mailed_to(request, jar)
    if email is None:
        return Redirect("/signin", status_code=303)
    return page(_UNCONFIRMED, email=email)


@get("/signin/code", media_type=MediaType.HTML)
async def code_page(
    request: AnyRequest,
    services: NamedDependency[Services],
    jar: NamedDependency[Cookies],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Ask for the code of the second step; begin again if no sign-in is under way."""
    path = parse_own_path(next)
    if not await services.signing_in.is_waiting_for_code(step_token(request, jar)):
        return Redirect(sign_in_path(path), status_code=303)
    return page(_CODE, next=path)


@post("/signin/code", media_type=MediaType.HTML)
async def give_code(
    request: AnyRequest,
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
    jar: NamedDependency[Cookies],
) -> Response[Any]:
    """Complete a sign-in with a one-time code or a recovery code."""
    outcome = await services.signing_in.with_code(
        step_token(request, jar), fields["code"], visitor_of(request, jar)
    )
    match outcome:
        case NewSession():
            await end_session(request, services, jar)
            return signed_in_redirect(outcome, fields.next_path, jar)
        case Denied(Reason.STEP_OVER):
            return await sign_in_form(services, fields.next_path, outcome)
        case Denied() | TooSoon():
            return page_with_error(_CODE, outcome, "code", next=fields.next_path)
        case _:
            assert_never(outcome)


@post("/signout", media_type=MediaType.HTML)
async def sign_out(
    request: AnyRequest, services: NamedDependency[Services], jar: NamedDependency[Cookies]
) -> Response[Any]:
    """End this browser's session."""
    await end_session(request, services, jar)
    answer = Redirect("/", status_code=303)
    answer.set_cookie(jar.end(SESSION))
    return answer


async def end_session(request: AnyRequest, services: Services, jar: Cookies) -> None:
    """End the session that the browser had until now."""
    token = jar.read(request.headers.get("cookie", ""), SESSION)
    if token is not None:
        await services.sessions.end_with_token(token)


SIGNING_IN = Router(
    "/",
    route_handlers=[sign_in_page, sign_in, unconfirmed_page, code_page, give_code, sign_out],
    dependencies={"fields": Provide(provide_fields)},
    include_in_schema=False,
    opt=dict(PUBLIC),
)
