"""The dependencies `browser`, `session` and `signed_in` of every route.

A page that needs an account declares `signed_in: NamedDependency[SignedIn]`; if nobody is signed
in, a person is redirected to the sign-in page and returns afterwards, and a program gets 401.
`session: NamedDependency[SignedIn | None]` is for pages that everybody may see.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlsplit

from litestar import Response
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotAuthorizedException, TooManyRequestsException
from litestar.response import Redirect

from printreach.hub.accounts.sessions import Visitor
from printreach.hub.leases import Access, PrinterGone
from printreach.languages import N_, N_ngettext, language, switch_to
from printreach.limiters.fair_semaphore import CURRENT_SHARE
from printreach.rules.accounts import Account
from printreach.rules.accounts.sessions import Session
from printreach.rules.own_paths import parse_own_path, sign_in_path
from printreach.rules.public_addresses import is_public, parse_ip_address
from printreach.rules.rate_limits import TooSoon
from printreach.web.cookies import DEVICE, SESSION, Cookies
from printreach.web.printer_state import count_in_need
from printreach.web.problems import (
    AnyRequest,
    PrinterNotFound,
    answer_failure,
    answer_no_such_printer,
    wants_page,
)
from printreach.web.requests import note_caller
from printreach.web.services import Services

UNPROVEN: Final = "x-forwarded-unproven"
"""The header by which the relay says that the address may be a proxy's, shared by many callers."""
_COUNTED_FOR: Final = timedelta(seconds=10)
"""How old what a printer said may be where it is only counted: less than people take to a page that
shows it, and so much that a farm isn't asked again for each page."""
_READS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedIn:
    """A signed-in account and its browser, and the use cases that its routes call.

    access: the lease that ends with the session.
    """

    services: Services
    account: Account
    session: Session
    access: Access

    @property
    def account_id(self) -> str:
        return self.account.account_id

    @property
    def session_id(self) -> str:
        return self.session.session_id

    @property
    def is_admin(self) -> bool:
        return self.account.is_admin


@dataclass(frozen=True, kw_only=True, slots=True)
class Browser:
    """The browser that sent a request, and the use cases that its routes call."""

    services: Services
    request: AnyRequest
    jar: Cookies

    @property
    def visitor(self) -> Visitor:
        """The caller's address, and the device if it signed in before."""
        return visitor_of(self.request, self.jar)

    def cookie(self, name: str) -> str:
        """Return the value of a cookie; empty if there is none."""
        return self.jar.read(self.request.headers.get("cookie", ""), name) or ""


class NotSignedIn(NotAuthorizedException):
    """The route requires a signed-in account."""


async def provide_session(
    request: AnyRequest, services: NamedDependency[Services], jar: NamedDependency[Cookies]
) -> SignedIn | None:
    """Return the signed-in account, if any."""
    token, visitor = jar.read(request.headers.get("cookie", ""), SESSION), visitor_of(request)
    if not token:
        return None
    _refuse_early(services, token, visitor)
    account_and_session = await services.sessions.look_up(token, visitor)
    if account_and_session is None:
        return None
    account, session = account_and_session
    raise_if_too_soon(await services.request_limits.take(account.account_id, session.session_id))
    note_caller(request, account.account_id, session.session_id)
    note_lock(request, is_locked=account.is_locked)
    switch_to(account.language)
    access = Access(account_id=account.account_id, visitor=visitor, session=token)
    return SignedIn(services=services, account=account, session=session, access=access)


def _refuse_early(services: Services, token: str, visitor: Visitor) -> None:
    """Refuse what is over its limit before the store is asked; have the others take their share of
    it. Raises TooManyRequestsException."""
    known = services.sessions.known(token)
    if known is None:
        raise_if_too_soon(services.sessions.has_to_wait(visitor))
        return
    account_id, session_id = known
    raise_if_too_soon(services.request_limits.look(account_id, session_id))
    share = CURRENT_SHARE.get()
    if share is not None:
        share.key = account_id


def note_lock(request: AnyRequest, *, is_locked: bool) -> None:
    """Note whether remote control is locked in `request.state`, for every page to show."""
    request.state.remote_is_locked = is_locked


def provide_browser(
    request: AnyRequest, services: NamedDependency[Services], jar: NamedDependency[Cookies]
) -> Browser:
    """Return the browser that sent the request."""
    return Browser(services=services, request=request, jar=jar)


async def provide_signed_in(
    request: AnyRequest, session: NamedDependency[SignedIn | None]
) -> SignedIn:
    """Return the signed-in account. Raises NotSignedIn."""
    if session is None:
        raise NotSignedIn("Sign in first")
    if wants_page(request):
        await _note_needs(request, session)
    return session


async def _note_needs(request: AnyRequest, signed_in: SignedIn) -> None:
    """Note how many printers need somebody in `request.state`, for the navigation to show."""
    services = signed_in.services
    printers = await services.own_printers.all(signed_in.account_id, max_age=_COUNTED_FOR)
    request.state.needs_you = count_in_need(printers, services.clock.now())


IDENTITY: Final[Mapping[str, Provide]] = MappingProxyType(
    {
        "browser": Provide(provide_browser, sync_to_thread=False),
        "session": Provide(provide_session),
        "signed_in": Provide(provide_signed_in),
    }
)


def visitor_of(request: AnyRequest, jar: Cookies | None = None) -> Visitor:
    """Return the caller: the address that the relay passes on, and the browser.

    jar: to recognise a browser that signed in before; needed where sign-in is limited.
    """
    address = request.client.host if request.client is not None else ""
    device = jar.read(request.headers.get("cookie", ""), DEVICE) if jar is not None else None
    browser = request.headers.get("user-agent", "")
    return Visitor(address=address, browser=browser, device=device or "", language=language())


def untrusted_proxy_of(request: AnyRequest) -> str:
    """Return the address of the proxy in a private network that forwarded a request; else empty."""
    address = parse_ip_address(visitor_of(request).address)
    if UNPROVEN not in request.headers or address is None or is_public(address):
        return ""
    return str(address)


def too_many(refused: TooSoon) -> TooManyRequestsException:
    """Return a 429 that says when to retry."""
    seconds = refused.wait_seconds
    return TooManyRequestsException(
        N_("There were too many attempts. Wait %(time)s, then try again.", time=in_words(seconds)),
        headers={"Retry-After": str(seconds)},
    )


def raise_if_too_soon(refused: TooSoon | None) -> None:
    """Raise the exception that is answered with 429 if a limit refused a try."""
    if refused is not None:
        raise too_many(refused)


def in_words(seconds: int) -> str:
    """Format a wait in words."""
    if seconds < 60:
        return N_ngettext("a second", "%(num)s seconds", seconds)
    return N_ngettext("a minute", "%(num)s minutes", -(-seconds // 60))


def ask_to_sign_in(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Redirect a person to the sign-in page, which leads back; answer a program with 401."""
    if not wants_page(request):
        return answer_failure(request, failure)
    return Redirect(sign_in_path(_way_back(request)), status_code=303)


def answer_ended_access(request: AnyRequest, failure: Exception) -> Response[Any]:
    """Answer as if the request came now: sign in first, or there is no such printer."""
    if isinstance(failure, PrinterGone):
        return answer_no_such_printer(request, PrinterNotFound(str(failure)))
    return ask_to_sign_in(request, NotSignedIn("Sign in first"))


def _way_back(request: AnyRequest) -> str:
    """Return the page that was asked for; after a form, the form's page."""
    if request.method in _READS:
        path, query = quote(request.scope["path"]), request.scope["query_string"].decode("latin-1")
        return f"{path}?{query}" if query else path
    referrer = urlsplit(request.headers.get("referer", ""))
    return parse_own_path(referrer.path + (f"?{referrer.query}" if referrer.query else ""))
