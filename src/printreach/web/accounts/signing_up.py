"""The pages of signing up: by oneself, with an invitation, and the link in the mail."""

from typing import Any, assert_never

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from printreach.hub.accounts.invitations import INVITATION_OVER
from printreach.hub.accounts.sessions import NewSession
from printreach.hub.accounts.signing_up import (
    LINK_OVER,
    Confirmed,
    MailSent,
    NeedsPassword,
    SignUpOutcome,
)
from printreach.hub.denied import Denied, Reason
from printreach.rules.accounts.mails import MailLink
from printreach.rules.accounts.sessions import CONFIRMATION_LIFETIME
from printreach.rules.own_paths import parse_own_path, path_with_next
from printreach.rules.rate_limits import TooSoon
from printreach.web.accounts.signing_in import mail_sent_redirect, mailed_to, start_session
from printreach.web.app_that_asks import AppThatAsks, app_that_asks
from printreach.web.cookies import STEP
from printreach.web.forms import ERROR_STATUS, Fields, page
from printreach.web.safe_methods import USED_UP
from printreach.web.services import Services
from printreach.web.signed_in import Browser, SignedIn

_SIGN_UP = "account/sign_up.html"
_SENT = "/signup/sent"
_CONFIRMED = "/signup/confirmed"
_MAIL_SENT = "account/mail_sent.html"
_CONFIRM = "account/confirm.html"
_OVER = "account/link_over.html"
_FIELDS = {Reason.BAD_PASSWORD: "password"}


@get("/signup", media_type=MediaType.HTML)
async def sign_up_page(
    session: NamedDependency[SignedIn | None],
    browser: NamedDependency[Browser],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
    invite: FromQuery[str | None] = None,
) -> Response[Any]:
    """Ask for the new account's address and password, if sign-up is open."""
    path = parse_own_path(next)
    asked_by = await app_that_asks(browser, path)
    if invite is not None:
        return await _invited_page(browser.services, invite, path, asked_by)
    if session is not None:
        return Redirect(path, status_code=303)
    closed = await browser.services.signing_up.closed()
    if closed is not None:
        return _closed_page(closed, path, asked_by)
    return page(_SIGN_UP, next=path, email="", invitation=None, invite="", asked_by=asked_by)


@post("/signup", media_type=MediaType.HTML)
async def sign_up(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Create an account, and send the mail that completes it."""
    visitor, signing_up = browser.visitor, browser.services.signing_up
    email, password, invite = fields["email"], fields["password"], fields["invite"]
    outcome: SignUpOutcome
    if invite:
        outcome = await signing_up.with_invitation(invite, email, password, visitor)
    else:
        outcome = await signing_up.sign_up(email, password, fields.next_path, visitor)
    match outcome:
        case MailSent(token):
            answer = mail_sent_redirect(_SENT, email, fields.next_path, browser.jar)
            answer.set_cookie(browser.jar.set(STEP, token, CONFIRMATION_LIFETIME))
            return answer
        case NewSession():
            return await start_session(browser, outcome, fields.next_path)
        case Denied(Reason.SIGN_UP_CLOSED | Reason.NOT_SET_UP):
            asked_by = await app_that_asks(browser, fields.next_path)
            return _closed_page(outcome, fields.next_path, asked_by, ERROR_STATUS)
        case Denied() | TooSoon():
            field = "email" if isinstance(outcome, TooSoon) else _field_of(outcome)
            invitation = await browser.services.invitations.look_up(invite) if invite else None
            asked_by = await app_that_asks(browser, fields.next_path)
            shown = {
                "next": fields.next_path,
                "email": email,
                "invite": invite,
                "asked_by": asked_by,
            }
            return page(_SIGN_UP, outcome, field, invitation=invitation, **shown)
        case _:
            assert_never(outcome)


@get(_SENT, media_type=MediaType.HTML, opt=dict(USED_UP))
async def mail_sent_page(
    browser: NamedDependency[Browser],
    next: FromQuery[str | None] = None,  # noqa: A002 - the name that the address carries
) -> Response[Any]:
    """Say where the mail went that completes the account; go on once its link was opened."""
    email, path = mailed_to(browser), parse_own_path(next)
    begun = await browser.services.signing_up.after_confirmation(
        browser.cookie(STEP), browser.visitor
    )
    if begun is not None:
        return await start_session(browser, begun, path)
    if email is None:
        return Redirect(path_with_next("/signup", path), status_code=303)
    asked_by = await app_that_asks(browser, path)
    return page(_MAIL_SENT, email=email, next=path, asked_by=asked_by)


@get(_CONFIRMED, media_type=MediaType.TEXT)
async def confirmed_elsewhere(browser: NamedDependency[Browser]) -> Response[str]:
    """Tell the page above whether to load itself again: 200 once the link was opened, until then
    204.
    """
    is_confirmed = await browser.services.signing_up.is_confirmed(browser.cookie(STEP))
    return Response("", status_code=200 if is_confirmed else 204)


@get("/confirm", media_type=MediaType.HTML)
async def confirm_page(
    browser: NamedDependency[Browser], token: FromQuery[str] = ""
) -> Response[Any]:
    """Ask before the link is used up, since some mail programs open every link by themselves."""
    link = await browser.services.signing_up.link_for(token, browser.cookie(STEP))
    match link:
        case Denied():
            return _over(link)
        case MailLink():
            return page(_CONFIRM, token=token, email=link.email, asks_password=False)
        case NeedsPassword(email):
            return page(_CONFIRM, token=token, email=email, asks_password=True)
        case _:
            assert_never(link)


@post("/confirm", media_type=MediaType.HTML)
async def confirm(
    fields: NamedDependency[Fields], browser: NamedDependency[Browser]
) -> Response[Any]:
    """Complete the account, and go on to the page from which the sign-up began."""
    token = fields["token"]
    outcome = await browser.services.signing_up.confirm(
        token, browser.cookie(STEP), fields["password"], browser.visitor
    )
    match outcome:
        case Confirmed(begun, next_path):
            return await start_session(browser, begun, next_path)
        case Denied(Reason.LINK_OVER):
            return _over(outcome)
        case Denied() | TooSoon():
            link = await browser.services.signing_up.link_for(token, browser.cookie(STEP))
            email = "" if isinstance(link, Denied) else link.email
            return page(_CONFIRM, outcome, "password", token=token, email=email, asks_password=True)
        case _:
            assert_never(outcome)


async def _invited_page(
    services: Services, token: str, path: str, asked_by: AppThatAsks | None
) -> Response[Any]:
    invitation = await services.invitations.look_up(token)
    if invitation is None:
        closed = await services.signing_up.closed()
        if closed is not None and closed.reason is Reason.NOT_SET_UP:
            return page(_OVER, closed, "link", sentence="", is_set_up=False)
        return _over(INVITATION_OVER)
    email = invitation.email or ""
    return page(
        _SIGN_UP, invitation=invitation, next=path, email=email, invite=token, asked_by=asked_by
    )


def _over(denied: Denied) -> Response[Any]:
    of_sign_up = denied is LINK_OVER
    return page(_OVER, denied, "link", sentence=denied.sentence, is_of_sign_up=of_sign_up)


def _closed_page(
    closed: Denied, next_path: str, asked_by: AppThatAsks | None, status: int = 200
) -> Response[Any]:
    answer = page(
        "account/closed.html",
        sentence=closed.sentence,
        is_set_up=closed.reason is not Reason.NOT_SET_UP,
        next=next_path,
        asked_by=asked_by,
    )
    answer.status_code = status
    return answer


def _field_of(denied: Denied) -> str:
    """Return the field of the form that the sentence is about."""
    return _FIELDS.get(denied.reason, "email")


SIGNING_UP = [
    *(sign_up_page, sign_up, mail_sent_page, confirmed_elsewhere),
    *(confirm_page, confirm),
]
