"""The pages of resetting a forgotten password."""

from typing import Any, assert_never

from litestar import MediaType, Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from printreach.hub.accounts.password_reset import LINK_OVER, Reset
from printreach.hub.accounts.signing_in import NeedsCode
from printreach.hub.denied import Denied, Reason
from printreach.rules.accounts.mails import LIFETIMES, MailPurpose
from printreach.rules.own_paths import HOME, parse_own_path, path_with_next
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.signing_in import (
    mail_sent_redirect,
    mailed_to,
    start_session,
    step_redirect,
)
from printreach.web.app_that_asks import app_that_asks
from printreach.web.cookies import STEP
from printreach.web.forms import Fields, page
from printreach.web.services import Services
from printreach.web.signed_in import Browser

_SENT = "/reset/sent"
_RESET = "account/reset.html"
_NEW_PASSWORD = "account/new_password.html"  # noqa: S105 - a template's name
_OVER = "account/link_over.html"


@get("/reset", media_type=MediaType.HTML)
async def reset_page(
    browser: NamedDependency[Browser],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Ask for the mail address of the account."""
    return await _asking_page(browser, parse_own_path(next))


@post("/reset", media_type=MediaType.HTML)
async def ask_for_reset(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Answer every address alike, and only then look up whether it has an account."""
    email, next_path = fields["email"], fields.next_path
    refused = await browser.services.recovering.may_ask(email, browser.visitor)
    if refused is not None:
        return await _asking_page(browser, next_path, refused, email=email)
    answer = mail_sent_redirect(_SENT, email, next_path, browser.jar)
    if next_path != HOME:
        token = await browser.services.recovering.remember(next_path)
        answer.set_cookie(browser.jar.set(STEP, token, LIFETIMES[MailPurpose.RESET]))
    answer.background = BackgroundTask(browser.services.recovering.send_link, email)
    return answer


@get(_SENT, media_type=MediaType.HTML)
async def reset_sent_page(
    browser: NamedDependency[Browser],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Say that a mail is on its way, if the address has an account."""
    email, path = mailed_to(browser), parse_own_path(next)
    if email is None:
        return Redirect(path_with_next("/reset", path), status_code=303)
    return await _asking_page(browser, path, email=email, is_sent=True)


@get("/reset/new", media_type=MediaType.HTML)
async def new_password_page(
    services: NamedDependency[Services], token: FromQuery[str] = ""
) -> Response[Any]:
    """Ask for another password."""
    if not await services.recovering.is_good(token):
        return page(_OVER, LINK_OVER, "link", sentence=LINK_OVER.sentence, is_of_password=True)
    return page(_NEW_PASSWORD, token=token)


@post("/reset/new", media_type=MediaType.HTML)
async def set_new_password(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Set the password and sign this browser in; all others are signed out."""
    outcome = await browser.services.recovering.reset(
        fields["token"], browser.cookie(STEP), fields["password"], browser.visitor
    )
    match outcome:
        case Reset(done, next_path):
            if isinstance(done, NeedsCode):
                return step_redirect(next_path, done.token, browser.jar)
            return await start_session(browser, done, next_path)
        case Denied(Reason.LINK_OVER):
            return page(_OVER, outcome, "link", sentence=outcome.sentence, is_of_password=True)
        case Denied() | TooSoon():
            return page(_NEW_PASSWORD, outcome, "password", token=fields["token"])
        case _:
            assert_never(outcome)


async def _asking_page(
    browser: Browser,
    next_path: str,
    refused: TooSoon | None = None,
    *,
    email: str = "",
    is_sent: bool = False,
) -> Response[Any]:
    """Render the page that asks for the address, or says that a mail is on its way."""
    asked_by = await app_that_asks(browser, next_path)
    shown = {"next": next_path, "email": email, "is_sent": is_sent, "asked_by": asked_by}
    return page(_RESET, refused, "email", **shown)


RECOVERING = [reset_page, ask_for_reset, reset_sent_page, new_password_page, set_new_password]
