"""Signing a browser in to a printer's host, by a link or by the password of a share.

The owner's link carries a ticket that works once. A guest's link carries the share's token, and a
page asks for its user name and password if there is none. Either is exchanged at once for a cookie
of that one host, so that no secret stays in the address bar.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs, unquote

from printreach.contract.commands import OPEN_PATH
from printreach.contract.errors import ErrorCode, Failure
from printreach.http1.heads import Request
from printreach.languages import N_
from printreach.ports.relaying import Tries
from printreach.rules.connections import ConnectionKind, Grant, is_opened_by
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.rules.connections.permissions import Requirement
from printreach.rules.own_paths import parse_printer_path
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.wire.heads import get

from .admission import Admission
from .answering import AnswerWriter
from .caller_origin import Network, origin_of
from .connection import FrontConnection
from .cookies import cookie_values, own_cookie_name, set_own_cookie
from .cross_site import Site, is_made_by_another_site, site_of
from .header_filter import credentials_in_target
from .held_request import HeldRequest
from .hosts import Hosts
from .page_words import FROM_ANOTHER_SITE, INCOMPLETE_LINK, USED_LINK
from .refusals import ask_to_sign_in, open_printer, refuse, wants_page

OWN_COOKIE_S: Final = 12 * 3600
SHARED_COOKIE_S: Final = 7 * 24 * 3600
"""The lifetimes of the cookies in the store (ports.Grants)."""
MAX_FORM_BYTES: Final = 4096
FORM_TIMEOUT_S: Final = 30.0
"""Limits on the form with user name and password: its size, and the time to send it."""
OPENED_BY_ADDRESS: Final = Limit(name="open-share", at_once=30, every=timedelta(seconds=20))
"""Correct links and passwords of one share, by one network: each costs a write. Wrong links are not
counted: 160 bits can't be guessed, and so wrong links keep no one from opening a printer."""
PASSWORDS_BY_ADDRESS: Final = Limit(
    name="share-password-caller", at_once=30, every=timedelta(seconds=20)
)
"""Passwords of one share, by one network."""
PASSWORDS_BY_SHARE: Final = Limit(name="share-password", at_once=30, every=timedelta(seconds=10))
"""Passwords of one share, by all networks. Guests can't use the password while it is full; links,
cookies and the credentials of apps are not counted here."""

WRONG_LINK: Final = N_("This link is wrong or has expired.")
WRONG_TYPED: Final = N_("The user name or password is wrong.")
_SIGN_IN: Final = Requirement(permission=None, works_while_locked=True)


class BrowserSignIn:
    """Answers requests for OPEN_PATH on own- and shared- hosts."""

    def __init__(
        self, hosts: Hosts, admission: Admission, tries: Tries, networks: Sequence[Network]
    ) -> None:
        self._hosts = hosts
        self._admission = admission
        self._tries = tries
        self._networks = networks

    async def serve(self, held: HeldRequest, grant: Grant) -> None:
        """Answer the request, unless the caller leaves before."""
        caller, request = held.caller, held.request
        secret: str | None
        if self._is_foreign(request):
            secret, fault = None, _FROM_ANOTHER_SITE
        elif grant.kind is ConnectionKind.OWN:
            secret, fault = await self._by_ticket(request, grant)
        elif request.method == b"POST":
            secret, fault = await self._by_password(held, grant)
        else:
            secret, fault = await self._by_token(caller, request, grant)
        if held.is_gone:
            return
        writer = held.release().writer()
        if secret is not None:
            self._open(writer, caller, grant, secret)
        elif fault.is_for_form and wants_page(request):
            ask_to_sign_in(writer, OPEN_PATH, fault.sentence, fault.wait_s)
        else:
            reader = self._hosts.reader(grant, caller.tunnel_port)
            refuse(writer, fault.code, reader, fault.sentence or None, fault.failure)

    async def _by_ticket(
        self, request: Request, grant: Grant
    ) -> "tuple[str | None, SignInFailure]":
        ticket = _query_value(request.target, b"ticket=")
        if request.method != b"GET" or ticket is None:
            return None, SignInFailure(sentence=INCOMPLETE_LINK)
        return await self._admission.redeem(grant.unique_id, ticket), SignInFailure(
            sentence=USED_LINK
        )

    async def _by_token(
        self, caller: FrontConnection, request: Request, grant: Grant
    ) -> "tuple[str | None, SignInFailure]":
        presented = credentials_in_target(request.target, grant.kind)
        if request.method != b"GET" or not presented:
            return None, SignInFailure(sentence="", is_for_form=True)
        return await self._sign_in(caller, request, grant, presented, WRONG_LINK)

    async def _by_password(
        self, held: HeldRequest, grant: Grant
    ) -> "tuple[str | None, SignInFailure]":
        caller, request = held.caller, held.request
        origin = self._hosts.origin(request.host).encode("latin-1")
        if get(request.headers, b"origin") != origin:  # else others could sign a browser in
            return None, _FROM_ANOTHER_SITE
        body = await held.read_small(MAX_FORM_BYTES, FORM_TIMEOUT_S)
        if body is None:
            return None, SignInFailure(sentence=N_("This form can't be read."), is_for_form=True)
        too_soon = self._tries.take_by_address(
            PASSWORDS_BY_ADDRESS, self._address(caller, request), grant.unique_id
        ) or self._tries.take(PASSWORDS_BY_SHARE, grant.unique_id)
        if too_soon is not None:
            return None, _too_soon(too_soon)
        presented = [digest(CredentialKind.BASIC, _typed(body))]
        return await self._sign_in(caller, request, grant, presented, WRONG_TYPED)

    async def _sign_in(
        self,
        caller: FrontConnection,
        request: Request,
        grant: Grant,
        presented: Sequence[bytes],
        sentence: str,
    ) -> "tuple[str | None, SignInFailure]":
        refused = self._admission.find_refusal(grant, presented, _SIGN_IN)
        if refused is not None:
            is_wrong = refused.code is ErrorCode.BAD_CREDENTIALS
            return None, SignInFailure(
                code=refused.code, sentence=sentence if is_wrong else "", is_for_form=is_wrong
            )
        address = self._address(caller, request)
        too_soon = self._tries.take_by_address(OPENED_BY_ADDRESS, address, grant.unique_id)
        if too_soon is not None:
            return None, _too_soon(too_soon)
        current = self._current_cookie(request, caller.tunnel_port, grant)
        secret = await self._admission.add_shared_cookie(grant.unique_id, current)
        return secret, SignInFailure(code=ErrorCode.CONNECTION_ENDED, sentence="")

    def _open(
        self, writer: AnswerWriter, caller: FrontConnection, grant: Grant, secret: str
    ) -> None:
        request, port = writer.request, caller.tunnel_port
        seconds = OWN_COOKIE_S if grant.kind is ConnectionKind.OWN else SHARED_COOKIE_S
        cookie = set_own_cookie(self._hosts.scheme, port, secret, seconds)
        site = site_of(request, self._hosts.origin(request.host))
        # At a port the next request has to show that it comes from there; a redirect would not.
        redirect = site is Site.OWN or (site is Site.UNKNOWN and port is None)
        typed = _query_value(request.target, b"at=") if grant.kind is ConnectionKind.OWN else None
        path = parse_printer_path(unquote(typed, "latin-1") if typed is not None else None)
        open_printer(writer, cookie, path, redirect=redirect)

    def _is_foreign(self, request: Request) -> bool:
        """Return whether a page of another site sent it without the person's knowledge."""
        origin = self._hosts.origin(request.host)
        return request.method == b"GET" and is_made_by_another_site(request, origin)

    def _current_cookie(self, request: Request, port: int | None, grant: Grant) -> str | None:
        """Return the secret by which the browser is signed in already."""
        name = own_cookie_name(self._hosts.scheme, port)
        for value in reversed(cookie_values(request.headers, name)):
            if is_opened_by(grant, [digest(CredentialKind.COOKIE, value)]):
                return value.decode("ascii")
        return None

    def _address(self, caller: FrontConnection, request: Request) -> str:
        origin = origin_of(caller.peer, request.headers, self._networks, self._hosts.scheme)
        return origin.address


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInFailure:
    """The reason why a browser was not signed in.

    is_for_form: a page asks for the password and shows the sentence. failure: see refusals.refuse.
    wait_s: until the next try, if there were too many.
    """

    sentence: str
    code: ErrorCode = ErrorCode.BAD_CREDENTIALS
    is_for_form: bool = False
    failure: Failure | None = None
    wait_s: int = 0


_FROM_ANOTHER_SITE: Final = SignInFailure(
    sentence=FROM_ANOTHER_SITE.meaning, failure=FROM_ANOTHER_SITE
)


def _too_soon(refused: TooSoon) -> SignInFailure:
    seconds = refused.wait_seconds
    sentence = N_("Too many attempts. Try again in %(seconds)s s.", seconds=seconds)
    return SignInFailure(sentence=sentence, wait_s=seconds, is_for_form=True)


def _typed(body: bytes) -> bytes:
    """Return `user:password` of the form; b"", which opens nothing, if it can't be parsed."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=8)
    except ValueError:
        return b""
    user, password = (fields.get(name, [""])[0].strip() for name in ("user", "password"))
    return f"{user}:{password}".encode("utf-8", "replace")


def _query_value(target: bytes, key: bytes) -> str | None:
    for pair in target.partition(b"?")[2].split(b"&"):
        if pair.startswith(key):
            return pair[len(key) :].decode("latin-1")
    return None
