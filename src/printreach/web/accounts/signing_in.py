"""The pages of signing in and out, and the cookies that every way of signing in sets."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta
from typing import Any, Final, assert_never

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect, Template

from printreach.hub.accounts.sessions import NewSession
from printreach.hub.accounts.signing_in import NeedsCode, Unconfirmed
from printreach.hub.accounts.signing_up import NOT_SET_UP
from printreach.hub.denied import Denied, Reason
from printreach.rules.accounts import MAX_EMAIL_LENGTH
from printreach.rules.accounts.sessions import DEVICE_LIFETIME, IDLE_TIME, STEP_LIFETIME
from printreach.rules.own_paths import code_path, parse_own_path, path_with_next, sign_in_path
from printreach.rules.rate_limits import TooSoon
from printreach.web.app_that_asks import app_that_asks
from printreach.web.cookies import DEVICE, MAILED, SESSION, STEP, Cookies
from printreach.web.forms import Fields, page
from printreach.web.signed_in import Browser, SignedIn

_SIGN_IN = "account/sign_in.html"
_CODE = "account/code.html"
_SENT = "/signin/sent"
_UNCONFIRMED = "account/unconfirmed.html"
_MAILED_FOR: Final = timedelta(hours=1)
"""As long as a flow of the portal may last, whose page waits for the mail's link."""


async def sign_in_form(
    browser: Browser,
    next_path: str,
    fault: Denied | TooSoon | None = None,
    email: str = "",
    *,
    field: str = "email",
) -> Template:
    """Render the page that asks for the password. fault: the error to show at the field."""
    closed = await browser.services.signing_up.closed()
    return page(
        _SIGN_IN,
        fault,
        field,
        next=next_path,
        email=email,
        is_set_up=closed != NOT_SET_UP,
        asked_by=await app_that_asks(browser, next_path),
    )


@get("/signin", media_type=MediaType.HTML)
async def sign_in_page(
    session: NamedDependency[SignedIn | None],
    browser: NamedDependency[Browser],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Ask for mail address and password, or go on if somebody is signed in."""
    path = parse_own_path(next)
    if session is not None:
        return Redirect(path, status_code=303)
    return await sign_in_form(browser, path)


@post("/signin", media_type=MediaType.HTML)
async def sign_in(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Check the password; sign in, or go on to the second step."""
    visitor = browser.visitor
    outcome = await browser.services.signing_in.with_password(
        fields["email"], fields["password"], visitor
    )
    match outcome:
        case NewSession():
            return await start_session(browser, outcome, fields.next_path)
        case NeedsCode(token):
            return step_redirect(fields.next_path, token, browser.jar)
        case Unconfirmed():
            await browser.services.signing_up.send_again(outcome.account, fields.next_path, visitor)
            email = outcome.account.email
            return mail_sent_redirect(_SENT, email, fields.next_path, browser.jar)
        case Denied() | TooSoon():
            return await sign_in_form(browser, fields.next_path, outcome, fields["email"])
        case _:
            assert_never(outcome)


@get(_SENT, media_type=MediaType.HTML)
async def unconfirmed_page(browser: NamedDependency[Browser]) -> Response[Any]:
    """Say where the mail went that completes the account of this sign-in."""
    email = mailed_to(browser)
    if email is None:
        return Redirect("/signin", status_code=303)
    return page(_UNCONFIRMED, email=email)


@get("/signin/code", media_type=MediaType.HTML)
async def code_page(
    browser: NamedDependency[Browser],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Ask for the code of the second step; begin again if no sign-in is under way."""
    path = parse_own_path(next)
    if not await browser.services.signing_in.is_waiting_for_code(browser.cookie(STEP)):
        return Redirect(sign_in_path(path), status_code=303)
    return page(_CODE, next=path, asked_by=await app_that_asks(browser, path))


@post("/signin/code", media_type=MediaType.HTML)
async def give_code(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Complete a sign-in with a one-time code or a recovery code."""
    outcome = await browser.services.signing_in.with_code(
        browser.cookie(STEP), fields["code"], browser.visitor
    )
    match outcome:
        case NewSession():
            return await start_session(browser, outcome, fields.next_path)
        case Denied(Reason.STEP_OVER):
            return await sign_in_form(browser, fields.next_path, outcome)
        case Denied() | TooSoon():
            asked_by = await app_that_asks(browser, fields.next_path)
            return page(_CODE, outcome, "code", next=fields.next_path, asked_by=asked_by)
        case _:
            assert_never(outcome)


@post("/signout", media_type=MediaType.HTML)
async def sign_out(browser: NamedDependency[Browser]) -> Response[Any]:
    """End this browser's session."""
    await end_session(browser)
    answer = Redirect("/", status_code=303)
    answer.set_cookie(browser.jar.end(SESSION))
    return answer


async def end_session(browser: Browser) -> None:
    """End the session that the browser had until now."""
    token = browser.cookie(SESSION)
    if token:
        await browser.services.sessions.end_with_token(token)


async def start_session(browser: Browser, begun: NewSession, next_path: str) -> Redirect:
    """Redirect and sign in by a new session token; the browser's earlier session ends."""
    await end_session(browser)
    jar = browser.jar
    answer = Redirect(parse_own_path(next_path), status_code=303)
    answer.set_cookie(jar.set(SESSION, begun.token, IDLE_TIME))
    answer.set_cookie(jar.end(STEP))
    remember_device(answer, begun.device_token, jar)
    return answer


def remember_device(answer: Response[Any], device_token: str, jar: Cookies) -> None:
    """Set the cookie by which the browser is recognised after it has signed out."""
    if device_token:
        answer.set_cookie(jar.set(DEVICE, device_token, DEVICE_LIFETIME))


def step_redirect(next_path: str, token: str, jar: Cookies) -> Redirect:
    """Redirect to the next step of signing in, the code; next_path: where it leads in the end."""
    answer = Redirect(code_path(next_path), status_code=303)
    answer.set_cookie(jar.set(STEP, token, STEP_LIFETIME))
    return answer


def mail_sent_redirect(path: str, email: str, next_path: str, jar: Cookies) -> Redirect:
    """Redirect to the page that says where a mail went; to reload that page sends no other."""
    answer = Redirect(path_with_next(path, next_path), status_code=303)
    value = urlsafe_b64encode(email[:MAX_EMAIL_LENGTH].encode(errors="replace")).decode()
    answer.set_cookie(jar.set(MAILED, value, _MAILED_FOR))
    return answer


def mailed_to(browser: Browser) -> str | None:
    """Return the address that this browser had a mail sent to just now, as it was typed."""
    value = browser.cookie(MAILED)
    try:
        return urlsafe_b64decode(value).decode(errors="replace") if value else None
    except ValueError:
        return None


SIGNING_IN = [sign_in_page, sign_in, unconfirmed_page, code_page, give_code, sign_out]
