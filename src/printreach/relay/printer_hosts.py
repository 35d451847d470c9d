"""Requests on printer hosts: they are matched to host name, connection, credentials and tunnel."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Final

from printreach.contract import signin
from printreach.contract.commands import OPEN_PATH
from printreach.contract.errors import BUSY, ErrorCode, Failure
from printreach.contract.platforms import facts_of
from printreach.http1.heads import Request
from printreach.http1.request_ids import REQUEST_ID, about
from printreach.languages import in_english
from printreach.ports import StoreUnavailable
from printreach.rules.addresses import STRICT_TRANSPORT_SECURITY
from printreach.rules.connections import (
    INTERNAL_KINDS,
    KINDS_WITH_COOKIES,
    ConnectionKind,
    Grant,
    LostPrinter,
    Refused,
    is_opened_by,
)
from printreach.rules.connections.permissions import is_command, must_be_plain_pause, required_of
from printreach.wire.heads import Headers

from .admission import Admission
from .browser_sign_in import BrowserSignIn
from .caller_exchange import CallerExchange
from .commands import CommandStamps, camera_stamp, permission_stamp
from .connection import FrontConnection, IncomingRequest
from .cross_site import CookieUse, cookie_use
from .directory import Directory
from .exchange import PrinterExchange
from .header_filter import (
    AnswerReader,
    Field,
    ForwardingPlan,
    credentials_in_target,
    has_key,
    plan_forwarding,
    target_for_printer,
)
from .held_request import HeldRequest
from .hosts import Hosts
from .page_words import FROM_ANOTHER_SITE
from .refusals import ask_for_confirmation, ask_to_sign_in, refuse, refuse_admission, wants_page
from .route import CONNECTION_STREAMS, SHARED_STREAMS, TUNNEL_IS_FULL, Route
from .webcam_feeds import Feeds

log = logging.getLogger(__name__)

_CONNECTION_HAS_ITS_SHARE: Final = in_english(
    "This connection has %(requests)s requests under way, and may have no more at once.",
    requests=CONNECTION_STREAMS,
)
_HTTPS_ALONE: Final = ((b"Strict-Transport-Security", STRICT_TRANSPORT_SECURITY.encode()),)
_BROWSER_DEFAULTS: Final = (
    (b"Cache-Control", b"private"),
    (b"Referrer-Policy", b"same-origin"),
    (b"X-Frame-Options", b"SAMEORIGIN"),
)
"""For answers that a cookie got. A CDN before the service may keep files by their extension and
give them to anybody: these are for one browser. With Authorization no shared cache keeps an answer
(RFC 9111, 3.5), so apps get the printer's own fields alone. Sites that a printer's pages link to
don't learn the name of its host, which nobody can guess; and no page of another printer shows them
in a frame, where a person clicks on what they don't see."""

_BROWSER_DEFAULTS_BY_HTTPS: Final = (*_BROWSER_DEFAULTS, *_HTTPS_ALONE)


class PrinterHosts:
    def __init__(
        self,
        hosts: Hosts,
        admission: Admission,
        directory: Directory,
        stamps: CommandStamps,
        browser_sign_in: BrowserSignIn,
    ) -> None:
        self._hosts = hosts
        self._browser_sign_in = browser_sign_in
        self._admission = admission
        self._directory = directory
        self._stamps = stamps
        self._feeds = Feeds()
        self._answers = AnswerReader()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_verbose = log.isEnabledFor(logging.DEBUG)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def serve(self, incoming: IncomingRequest, unique_id: str) -> CallerExchange | None:
        """Serve a request on the host of a connection."""
        known = self._admission.cached(unique_id)
        if known is None:
            return self._wait_for(self._look_up(unique_id), incoming)
        return self._serve_known(incoming, unique_id, known[0])

    def serve_port(self, incoming: IncomingRequest, port: int) -> CallerExchange | None:
        """Serve a request on a port that stands for a connection; its Host says nothing."""
        unique_id = self._admission.cached_at_port(port)
        if unique_id is None:
            return self._wait_for(self._look_up_port(port), incoming)
        return self.serve(incoming, unique_id)

    async def _look_up(self, unique_id: str) -> tuple[str, Grant | None]:
        return unique_id, await self._admission.load(unique_id)

    async def _look_up_port(self, port: int) -> tuple[str, Grant | None]:
        return await self._look_up(await self._admission.load_at_port(port))

    async def _await_agent(self, unique_id: str, grant: Grant) -> tuple[str, Grant | None]:
        await self._directory.arrival(grant.printer_id)
        known = self._admission.cached(unique_id)  # the connection may have ended meanwhile
        return (unique_id, known[0]) if known is not None else await self._look_up(unique_id)

    def _wait_for(
        self, found: Coroutine[None, None, tuple[str, Grant | None]], incoming: IncomingRequest
    ) -> CallerExchange:
        """Hold the request until its connection was looked up, or its agent is back."""
        held = HeldRequest(incoming)
        self._start(self._serve_found(found, held), held)
        return held

    async def _serve_found(
        self, found: Coroutine[None, None, tuple[str, Grant | None]], held: HeldRequest
    ) -> None:
        unique_id, grant = await found
        if not held.is_gone:
            exchange = self._serve_known(held.release(), unique_id, grant)
            held.caller.continue_with(exchange)

    def _start(self, work: Coroutine[None, None, None], held: HeldRequest) -> None:
        task = asyncio.create_task(self._run(work, held))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _serve_known(
        self, incoming: IncomingRequest, unique_id: str, grant: Grant | None
    ) -> CallerExchange | None:
        caller, request = incoming.caller, incoming.request
        if grant is None or (grant.kind in INTERNAL_KINDS and not _is_internal(caller, request)):
            return self._refuse(incoming, None, ErrorCode.CONNECTION_NOT_FOUND)
        has_cookies = grant.kind in KINDS_WITH_COOKIES
        if has_cookies and request.target.partition(b"?")[0] == OPEN_PATH:
            return self._open(incoming, grant)
        port = caller.tunnel_port
        known = caller.forwarding_plan = plan_forwarding(
            caller.forwarding_plan, request, grant, scheme=self._hosts.scheme, tunnel_port=port
        )
        digests, target = [*known.digests], request.target
        if has_key(target):
            digests += credentials_in_target(target, grant.kind)
            target = target_for_printer(target)
        by_cookie = has_cookies and _is_by_cookie(grant, known, digests)
        # Before all else, so that a page of another site learns nothing from the kind of refusal.
        if by_cookie and not self._may_use_cookie(incoming, grant):
            return None
        digests += known.cookies
        need = required_of(request.method, request.target)
        refused = self._admission.find_refusal(grant, digests, need)
        if refused is not None:
            self._refuse_admission(incoming, grant, refused)
            return None
        route = self._directory.find(grant.printer_id)
        if route is None and self._directory.may_arrive(grant.printer_id):
            return self._wait_for(self._await_agent(unique_id, grant), incoming)
        if route is not None and (too_many := self._too_many(route, unique_id, grant)):
            return self._refuse(incoming, grant, ErrorCode.AGENT_ERROR, too_many)
        if route is None or not route.tunnel.session.may_open:
            return self._refuse(incoming, grant, ErrorCode.PRINTER_NOT_CONNECTED, lost=grant.lost)
        if not _is_understood(request.method, route):
            return self._refuse(incoming, grant, ErrorCode.AGENT_UPDATE_REQUIRED)
        if request.span is not None and is_command(request.target):
            request.span.is_for(request.target.partition(b"?")[0].decode("latin-1"))
        exchange = PrinterExchange(
            caller,
            request,
            self._hosts,
            self._admission,
            self._feeds,
            self._answers,
            grant=grant,
            presented=digests,
            need=need,
            defaults=self._defaults(caller, by_cookie=by_cookie),
            cookie_port=port if by_cookie else None,
            passes_body=_passes_body(request, grant),
            is_verbose=self._is_verbose,
        )
        return exchange.start(
            route,
            incoming.body,
            incoming.fin,
            target=target,
            fields=known.fields,
            secure=self._hosts.scheme == "https",
            stamp=self._stamp(request, unique_id, grant, route),
        )

    def _too_many(self, route: Route, unique_id: str, grant: Grant) -> str | None:
        """Why the tunnel takes no further stream of this connection now; None where it does."""
        tunnel = route.tunnel
        if tunnel.is_overloaded:
            return TUNNEL_IS_FULL
        count = tunnel.session.stream_count
        # A link carries many printers; the node where the tunnel ends knows when that is full.
        if grant.kind in INTERNAL_KINDS or (route.is_here and count < CONNECTION_STREAMS):
            return None
        if count >= SHARED_STREAMS and route.is_here:
            return TUNNEL_IS_FULL
        has_its_share = self._admission.stream_count(unique_id) >= CONNECTION_STREAMS
        return _CONNECTION_HAS_ITS_SHARE if has_its_share else None

    def _defaults(self, caller: FrontConnection, *, by_cookie: bool) -> tuple[Field, ...]:
        """Return the fields that an answer gets unless the printer has set them."""
        has_host = self._hosts.require_https and caller.tunnel_port is None
        if by_cookie:
            return _BROWSER_DEFAULTS_BY_HTTPS if has_host else _BROWSER_DEFAULTS
        return _HTTPS_ALONE if has_host else ()

    def _stamp(self, request: Request, unique_id: str, grant: Grant, route: Route) -> Headers:
        allowed = permission_stamp(grant.access)
        if not is_command(request.target):
            return allowed
        agents_unix_s = route.clock.unix_s_at(asyncio.get_running_loop().time())
        stamp = self._stamps.stamp(request, unique_id, agents_unix_s)
        return [*stamp, *camera_stamp(request.target, grant.cameras), *allowed]

    async def _run(self, work: Coroutine[None, None, None], held: HeldRequest) -> None:
        """Do the work, and answer the caller if it fails."""
        REQUEST_ID.set(held.request.request_id.decode("ascii"))
        try:
            await work
        except Exception as error:
            log.exception("a request could not be served")
            if held.is_released:
                held.caller.abort_for_gone_caller()
            elif not held.is_gone:
                detail = BUSY if isinstance(error, StoreUnavailable) else None
                self._refuse(held.release(), None, ErrorCode.UNKNOWN, detail)

    def _refuse(
        self,
        incoming: IncomingRequest,
        grant: Grant | None,
        code: ErrorCode,
        detail: str | None = None,
        failure: Failure | None = None,
        lost: LostPrinter | None = None,
    ) -> CallerExchange | None:
        """Answer now; return None, so that the connection knows that the request is served.

        lost: what an admitted caller is told of the printer.
        """
        target = incoming.request.target
        log.debug("refused with %d", code, extra=about(incoming.request.request_id))
        reader = self._hosts.reader(grant, incoming.caller.tunnel_port, target)
        reader = replace(reader, lost=lost)
        refuse(incoming.writer(), code, reader, detail, failure)
        return None

    def _refuse_admission(self, incoming: IncomingRequest, grant: Grant, refused: Refused) -> None:
        """Answer with the refusal of `find_refusal`, or ask a guest for the password."""
        is_signed_in = refused.code is not ErrorCode.BAD_CREDENTIALS or refused.sentence is not None
        writer, is_shared = incoming.writer(), grant.kind is ConnectionKind.SHARED
        if is_shared and not is_signed_in and wants_page(incoming.request):
            ask_to_sign_in(writer, OPEN_PATH)
        else:
            target = incoming.request.target
            reader = self._hosts.reader(grant, incoming.caller.tunnel_port, target)
            refuse_admission(writer, refused, reader)

    # --- browsers that are signed in by a cookie ------------------------------------------------

    def _may_use_cookie(self, incoming: IncomingRequest, grant: Grant) -> bool:
        """Answer and return False if a page of another site may have caused the request."""
        caller, request = incoming.caller, incoming.request
        says_referer = facts_of(self._directory.platform(grant.printer_id)).sends_referer
        is_guessable = caller.tunnel_port is not None and says_referer
        use = cookie_use(request, self._hosts.origin(request.host), is_guessable=is_guessable)
        if use is CookieUse.REFUSED:
            code, failure = ErrorCode.BAD_CREDENTIALS, FROM_ANOTHER_SITE
            self._refuse(incoming, grant, code, failure.meaning, failure)
        elif use is CookieUse.NEEDS_CONFIRMATION:
            reader = self._hosts.reader(grant, caller.tunnel_port)
            ask_for_confirmation(incoming.writer(), reader)
        return use is CookieUse.ALLOWED

    def _open(self, incoming: IncomingRequest, grant: Grant) -> CallerExchange:
        """Exchange a link or a password for the host's cookie."""
        held = HeldRequest(incoming)
        work = self._browser_sign_in.serve(held, grant)
        self._start(work, held)
        return held


def _is_by_cookie(grant: Grant, known: ForwardingPlan, digests: Sequence[bytes]) -> bool:
    """Return whether only a cookie can open it: an own- host accepts nothing else."""
    if grant.kind is ConnectionKind.OWN:
        return True
    return bool(known.cookies) and not is_opened_by(grant, digests)


def _is_understood(method: bytes, route: Route) -> bool:
    """Return whether the agent accepts the method: older ones end the tunnel for small letters."""
    return method == method.upper() or signin.LOWER_CASE_METHODS in route.capabilities


def _passes_body(request: Request, grant: Grant) -> bool:
    """The service itself orders plain pauses while remote control is locked; others are made to."""
    if grant.kind in INTERNAL_KINDS:
        return True
    return not must_be_plain_pause(request.target, grant.access)


def _is_internal(caller: FrontConnection, request: Request) -> bool:
    """Return whether the service itself sends the request, to the command API only."""
    return caller.is_inside and is_command(request.target)
