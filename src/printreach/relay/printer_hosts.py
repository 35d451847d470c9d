"""Requests on printer hosts: host name, connection, credentials, tunnel, in this order."""

import asyncio
import logging
from collections.abc import Coroutine

from printreach.contract.errors import ErrorCode
from printreach.http1.heads import Request
from printreach.rules.access import is_command, need_of
from printreach.rules.addresses import STRICT_TRANSPORT_SECURITY
from printreach.rules.connections import INTERNAL_KINDS, ConnectionKind, Grant, Refused
from printreach.wire.heads import Headers

from .admission import Admission
from .answering import AnswerWriter
from .cleaning import Field, presented_in_target
from .commands import CommandStamps, permission_stamp
from .connection import Exchange, FrontConnection
from .cookies import set_own_cookie
from .cross_site import CookieUse, cookie_use, is_foreign
from .directory import Directory
from .exchange import PrinterExchange
from .hosts import Hosts
from .passage import passage
from .refusals import ask_for_confirmation, open_printer, refuse, refuse_admission
from .webcam_feeds import Feeds

log = logging.getLogger(__name__)

OPEN_PATH = b"/service-command-api/open"
COOKIE_MAX_AGE_S = 12 * 3600
"""As long as the store honours the cookie (ports.Grants.redeem_open_ticket)."""
_OWN_DEFAULTS = ((b"Referrer-Policy", b"same-origin"),)
"""Sites that a printer's pages link to don't learn the name of its host, which nobody can guess."""
_HTTPS_ALONE = ((b"Strict-Transport-Security", STRICT_TRANSPORT_SECURITY.encode()),)


class PrinterHosts:
    def __init__(
        self, hosts: Hosts, admission: Admission, directory: Directory, stamps: CommandStamps
    ) -> None:
        self._hosts = hosts
        self._admission = admission
        self._directory = directory
        self._stamps = stamps
        self._feeds = Feeds()
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def serve(
        self, caller: FrontConnection, request: Request, body: bytes, fin: bool, unique_id: str
    ) -> Exchange | None:
        """Serve a request on the host of a connection."""
        known = self._admission.cached(unique_id)
        if known is None:
            return self._wait_for(self._look_up(unique_id), caller, request, body, fin)
        return self._serve_known(caller, request, body, fin, unique_id, known[0])

    def serve_port(
        self, caller: FrontConnection, request: Request, body: bytes, fin: bool, port: int
    ) -> Exchange | None:
        """Serve a request on a port that stands for a connection; its Host says nothing."""
        unique_id = self._admission.cached_at_port(port)
        if unique_id is None:
            return self._wait_for(self._look_up_port(port), caller, request, body, fin)
        return self.serve(caller, request, body, fin, unique_id)

    async def _look_up(self, unique_id: str) -> tuple[str, Grant | None]:
        return unique_id, await self._admission.load(unique_id)

    async def _look_up_port(self, port: int) -> tuple[str, Grant | None]:
        return await self._look_up(await self._admission.load_at_port(port))

    async def _arrived(self, unique_id: str, grant: Grant) -> tuple[str, Grant | None]:
        await self._directory.arrival(grant.printer_id)
        known = self._admission.cached(unique_id)  # the connection may have ended meanwhile
        return (unique_id, known[0]) if known is not None else await self._look_up(unique_id)

    def _wait_for(
        self,
        found: Coroutine[None, None, tuple[str, Grant | None]],
        caller: FrontConnection,
        request: Request,
        body: bytes,
        fin: bool,
    ) -> Exchange:
        """Hold the request until its connection was looked up, and its agent is back."""
        waiting = Waiting(caller, body, fin)
        self._start(self._serve_found(found, waiting, caller, request), waiting, caller, request)
        return waiting

    async def _serve_found(
        self,
        found: Coroutine[None, None, tuple[str, Grant | None]],
        waiting: "Waiting",
        caller: FrontConnection,
        request: Request,
    ) -> None:
        unique_id, grant = await found
        if not waiting.is_gone:
            body, fin = waiting.release()
            caller.hand_over(self._serve_known(caller, request, body, fin, unique_id, grant))

    def _start(
        self,
        work: Coroutine[None, None, None],
        waiting: "Waiting",
        caller: FrontConnection,
        request: Request,
    ) -> None:
        task = asyncio.create_task(self._answered(work, waiting, caller, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _serve_known(
        self,
        caller: FrontConnection,
        request: Request,
        body: bytes,
        fin: bool,
        unique_id: str,
        grant: Grant | None,
    ) -> Exchange | None:
        if grant is None:
            return self._refuse(caller, request, fin, ErrorCode.CONNECTION_NOT_FOUND)
        if grant.kind in INTERNAL_KINDS and not _is_internal(caller, request):
            return self._refuse(caller, request, fin, ErrorCode.CONNECTION_NOT_FOUND)
        if grant.kind is ConnectionKind.OWN:
            if caller.tunnel_port is not None:  # ports share cookies with their host
                return self._refuse(caller, request, fin, ErrorCode.BAD_CREDENTIALS)
            if request.target.partition(b"?")[0] == OPEN_PATH:
                return self._open(caller, request, fin, unique_id)
            # Before all else: a page of another site learns nothing by what it is refused with.
            use = cookie_use(request, self._hosts.origin(request.host))
            if use is CookieUse.REFUSED:
                detail = "This came from a page of another site."
                return self._refuse(caller, request, fin, ErrorCode.BAD_CREDENTIALS, detail)
            if use is CookieUse.NEEDS_CONFIRMATION:
                ask_for_confirmation(_writer(caller, request, fin), self._hosts.printers_page)
                return None
        known = caller.passage = passage(caller.passage, request, grant, self._hosts.scheme)
        digests = [*known.digests, *presented_in_target(request.target, grant.kind)]
        need = need_of(request.method, request.target)
        decision = self._admission.decide(grant, digests, need)
        if isinstance(decision, Refused):
            writer = _writer(caller, request, fin)
            refuse_admission(writer, decision, self._hosts.printers_page)
            return None
        tunnel = self._directory.find(grant.printer_id)
        if tunnel is None and self._directory.is_settling:
            return self._wait_for(self._arrived(unique_id, grant), caller, request, body, fin)
        if tunnel is not None and tunnel.is_overloaded:
            detail = "More requests wait for the printer than it can take."
            return self._refuse(caller, request, fin, ErrorCode.AGENT_ERROR, detail)
        if tunnel is None or not tunnel.session.may_open:
            return self._refuse(caller, request, fin, ErrorCode.PRINTER_NOT_CONNECTED)
        exchange = PrinterExchange(
            caller,
            request,
            self._admission,
            self._feeds,
            unique_id=unique_id,
            account_id=grant.account_id,
            presented=digests,
            need=need,
            limits=grant.limits,
            printers_page=self._hosts.printers_page,
            defaults=self._defaults(caller, grant),
        )
        return exchange.start(
            tunnel,
            body,
            fin,
            fields=known.fields,
            secure=self._hosts.scheme == "https",
            stamp=self._stamp(request, unique_id, grant),
        )

    def _defaults(self, caller: FrontConnection, grant: Grant) -> tuple[Field, ...]:
        """Fields of an answer that the printer leaves to the service."""
        own = _OWN_DEFAULTS if grant.kind is ConnectionKind.OWN else ()
        has_host = self._hosts.require_https and caller.tunnel_port is None
        return (*own, *_HTTPS_ALONE) if has_host else own

    def _stamp(self, request: Request, unique_id: str, grant: Grant) -> Headers:
        allowed = permission_stamp(grant.access)
        if not is_command(request.target):
            return allowed
        agents_unix_s = self._directory.agents_unix_s(grant.printer_id)
        return [*self._stamps.stamp(request, unique_id, agents_unix_s), *allowed]

    async def _answered(
        self,
        work: Coroutine[None, None, None],
        waiting: "Waiting",
        caller: FrontConnection,
        request: Request,
    ) -> None:
        """Do the work, and let the caller know where it failed: nobody else would."""
        try:
            await work
        except Exception:
            log.exception("a request could not be served")
            if waiting.is_released:
                caller.abort_for_gone_caller()
            elif not waiting.is_gone:
                _, fin = waiting.release()
                self._refuse(caller, request, fin, ErrorCode.UNKNOWN)

    def _refuse(
        self,
        caller: FrontConnection,
        request: Request,
        fin: bool,
        code: ErrorCode,
        detail: str | None = None,
    ) -> Exchange | None:
        """Answer now; None, so that the front knows that nothing is under way."""
        refuse(_writer(caller, request, fin), code, self._hosts.printers_page, detail)
        return None

    # --- the single-use link --------------------------------------------------------------------

    def _open(
        self, caller: FrontConnection, request: Request, fin: bool, unique_id: str
    ) -> Exchange | None:
        """Trade the ticket of a link for the host's cookie."""
        ticket = _query_value(request.target, b"ticket=")
        if request.method != b"GET" or not fin or ticket is None:
            detail = "This link is incomplete."
            return self._refuse(caller, request, fin, ErrorCode.BAD_CREDENTIALS, detail)
        waiting = Waiting(caller, b"", fin)
        work = self._redeem(waiting, caller, request, unique_id, ticket)
        self._start(work, waiting, caller, request)
        return waiting

    async def _redeem(
        self,
        waiting: "Waiting",
        caller: FrontConnection,
        request: Request,
        unique_id: str,
        ticket: str,
    ) -> None:
        secret = await self._admission.redeem(unique_id, ticket)
        if waiting.is_gone:
            return
        waiting.release()
        writer = AnswerWriter(caller, request)
        if secret is None:
            detail = "This link was used already, or it is older than ten minutes."
            refuse(writer, ErrorCode.BAD_CREDENTIALS, self._hosts.printers_page, detail)
            return
        cookie = set_own_cookie(self._hosts.scheme, secret, COOKIE_MAX_AGE_S)
        open_printer(writer, cookie, redirect=not is_foreign(request))


class Waiting:
    """Holds a request while its connection is looked up; the caller's body waits in the socket."""

    def __init__(self, caller: FrontConnection, body: bytes, fin: bool) -> None:
        self.is_gone = False
        self.is_released = False
        self._caller = caller
        self._body = [body]
        self._fin = fin
        if not fin:
            caller.pause()

    def release(self) -> tuple[bytes, bool]:
        """What has come of the body, and whether that is all."""
        self.is_released = True
        self._caller.resume()
        return b"".join(self._body), self._fin

    def on_body(self, data: bytes, fin: bool) -> None:
        self._body.append(data)
        self._fin = fin

    def on_raw(self, _data: bytes) -> None:
        raise AssertionError("nothing was upgraded yet")

    def on_caller_writable(self) -> None:
        pass

    def on_caller_gone(self) -> None:
        self.is_gone = True


def _writer(caller: FrontConnection, request: Request, fin: bool) -> AnswerWriter:
    """For an answer of our own; the connection can't go on where a body is still to come."""
    writer = AnswerWriter(caller, request)
    writer.keep_alive = writer.keep_alive and fin
    return writer


def _is_internal(caller: FrontConnection, request: Request) -> bool:
    """The service itself asks, and for nothing but the command API."""
    return caller.is_inside and is_command(request.target)


def _query_value(target: bytes, key: bytes) -> str | None:
    for pair in target.partition(b"?")[2].split(b"&"):
        if pair.startswith(key):
            return pair[len(key) :].decode("latin-1")
    return None
