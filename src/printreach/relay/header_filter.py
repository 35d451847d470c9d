"""Which header fields pass between caller and printer, and the forwarding plan of a request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from printreach.contract.commands import ERROR_FIELD
from printreach.http1.heads import Request
from printreach.rules.connections import KINDS_WITH_COOKIES, ConnectionKind, Grant
from printreach.rules.connections.credentials import (
    CredentialKind,
    digest,
    digest_of_authorization,
    digest_of_service_api_key,
)
from printreach.wire.heads import (
    HOP_BY_HOP,
    REQUEST_ID_FIELD,
    Headers,
    decode_response,
    encode_fields,
    get,
    strip_hop_by_hop,
)

from .answering import encode_answer_fields
from .commands import OURS
from .cookies import cookie_values, own_cookie_name, set_cookies, without_ours

_KEY: Final = b"service_api_key="
_FORWARDING: Final = frozenset({b"forwarded", b"x-real-ip"})
_DROPPED: Final = HOP_BY_HOP | _FORWARDING | OURS
_SHADOWED: Final = _DROPPED | {
    *(b"authorization", b"cookie", b"x-api-key", b"x-remote-user", b"remote-user"),
    *(b"content-length", b"content-encoding", b"content-type", b"expect", b"host", b"range"),
}
"""Fields of framing and of identity. With an underscore in their names they are none to us, and to
a printer that doesn't distinguish `_` and `-` they are a second one."""
_LOOKED_AT: Final = _DROPPED | {b"authorization", b"cookie", b"referer"}
_FOR_PROXIES: Final = (
    b"x-accel-",  # nginx: X-Accel-Redirect serves locations marked internal
    b"x-sendfile",  # Apache, lighttpd: a file of the disk; X-Sendfile-Temporary deletes it, too
    b"x-lighttpd-",  # lighttpd: X-LIGHTTPD-send-file
    b"x-litespeed-",  # LiteSpeed: X-LiteSpeed-Location, and -Purge for its cache
    b"x-reproxy-",  # H2O and Perlbal: X-Reproxy-URL fetches another address
    b"x-envoy-",  # Envoy: x-envoy-immediate-health-check-fail takes the relay out of service
    b"fly-replay",  # Fly.io: sends the request to another machine of the organisation
)
"""Beginnings of names that a proxy in front of the relay acts on; none is meant for the caller."""
_ANSWER_DROPPED: Final = HOP_BY_HOP | {
    ERROR_FIELD.lower(),
    REQUEST_ID_FIELD.lower(),
    b"clear-site-data",
    b"strict-transport-security",
    b"alt-svc",
    b"nel",
    b"report-to",
    b"public-key-pins",
    b"public-key-pins-report-only",
    b"set-cookie2",
}
"""Clear-Site-Data empties the whole registrable domain of cookies, the dashboard's among them.
Strict-Transport-Security holds for every port of a host, those of other printers included: whether
browsers come by https alone is the service's to say. Alt-Svc sends later requests to another port
or host, NEL and Report-To have the browser report them to anybody, and pins lock people out of the
host: each is remembered when the printer has another owner."""
_ANSWER_LOOKED_AT: Final = _ANSWER_DROPPED | {b"set-cookie", b"content-length", b"content-type"}
MAX_CACHED_ANSWERS: Final = 256
MAX_CACHED_BYTES: Final = 2048
"""The most cached heads of all printers, and the longest one: with the results 1 MiB together."""
_USUAL_CONNECTIONS: Final = frozenset({b"keep-alive", b"close", b"upgrade", b"keep-alive, upgrade"})

Field = tuple[bytes, bytes]


class PresentedCredentials(NamedTuple):
    """The credentials in a request's header lines, as digests.

    authorizations: by the values of their Authorization lines. cookies: of the cookie's values.
    """

    authorizations: dict[bytes, bytes]
    cookies: list[bytes]

    def ours(self, accepted: Sequence[bytes]) -> list[bytes]:
        """Return the Authorization values that open the connection; printers don't see them."""
        return [value for value, found in self.authorizations.items() if found in accepted]


@dataclass(init=False, slots=True)
class AnswerHead:
    """A printer's head as the caller may see it. length: None without a Content-Length.

    fields: the header lines, encoded. webcam_type: the content type of a webcam's stream; empty for
    everything else.
    """

    status: int
    reason: bytes
    fields: bytes
    length: int | None
    webcam_type: bytes

    # Written out, since mypyc compiles it, and not the one that dataclass makes.
    def __init__(
        self, status: int, reason: bytes, fields: bytes, length: int | None, webcam_type: bytes
    ) -> None:
        self.status = status
        self.reason = reason
        self.fields = fields
        self.length = length
        self.webcam_type = webcam_type


class BadAnswer(Exception):
    """A printer's head contradicts itself."""


def credentials_in_headers(
    headers: Headers, kind: ConnectionKind, scheme: str, tunnel_port: int | None
) -> PresentedCredentials:
    """Return the credentials in the header lines of a request to a connection of that kind.

    tunnel_port: the port that it came by, if a port stands for the connection.
    """
    cookies: list[bytes] = []
    authorizations: dict[bytes, bytes] = {}
    if kind in KINDS_WITH_COOKIES:
        values = cookie_values(headers, own_cookie_name(scheme, tunnel_port))
        cookies = [digest(CredentialKind.COOKIE, value) for value in values]
    if kind is not ConnectionKind.OWN:
        for name, value in headers:
            if name.lower() == b"authorization" and (found := digest_of_authorization(value)):
                authorizations[value] = found
    return PresentedCredentials(authorizations, cookies)


def credentials_in_target(target: bytes, kind: ConnectionKind) -> list[bytes]:
    """Return the digests of the credentials in a service_api_key; none on an own- host."""
    if not has_key(target) or kind is ConnectionKind.OWN:
        return []
    for pair in target.partition(b"?")[2].split(b"&"):
        if pair.startswith(_KEY):
            return digest_of_service_api_key(unquote_to_bytes(pair[len(_KEY) :]))
    return []


def has_key(target: bytes) -> bool:
    """Return whether there may be a service_api_key in the target: it has the word."""
    return target.find(_KEY) >= 0  # `in` takes twice as long, as it tries a number first


def target_for_printer(target: bytes) -> bytes:
    """Return the target without service_api_key; every other byte is kept."""
    if not has_key(target):
        return target
    path, _, query = target.partition(b"?")
    if _KEY not in query:
        return target
    kept = [pair for pair in query.split(b"&") if not pair.startswith(_KEY)]
    return path + b"?" + b"&".join(kept) if kept else path


def headers_for_printer(
    headers: Headers, ours: Sequence[bytes], cookie_port: int | None = None
) -> Headers:
    """Return the caller's headers as the printer may see them.

    Servers that pass headers on as CGI does, OctoPrint's among them, don't distinguish `_` and `-`.
    ours: Authorization values with our credentials; others are for the printer and pass.
    cookie_port: the tunnel port whose cookies the printer gets back (cookies.without_ours).
    """
    kept: Headers = []
    for field in headers:
        written = field[0].lower()
        name = written.replace(b"_", b"-")
        if name != written and name in _SHADOWED:
            continue
        if name not in _LOOKED_AT and not name.startswith(b"x-forwarded-"):
            kept.append(field)
        elif name == b"connection" and field[1].lower() not in _USUAL_CONNECTIONS:
            # It names other fields, which end at this hop.
            return headers_for_printer(strip_hop_by_hop(headers), ours, cookie_port)
        elif (value := _for_printer(name, field[1], ours, cookie_port)) is not None:
            kept.append((field[0], value))
    return kept


def _for_printer(
    name: bytes, value: bytes, ours: Sequence[bytes], cookie_port: int | None
) -> bytes | None:
    """Return the value that the printer may see of a field that may hold ours; None for none."""
    match name:
        case b"authorization":
            return None if value in ours else value
        case b"cookie":
            return without_ours(value, cookie_port) or None
        case b"referer":
            return target_for_printer(value).rstrip(b" \t")
        case _:
            return None


class AnswerReader:
    """Reads printers' heads into what callers may see.

    A printer that is asked many times a second often gives the same head, even the same Date. The
    last results are cached by the bytes of the heads. Heads that set a cookie are not: it is a
    secret, and seldom the same twice.
    """

    __slots__ = ("_cached",)

    def __init__(self) -> None:
        self._cached: dict[tuple[bytes, int | None, tuple[Field, ...]], AnswerHead] = {}

    def read(
        self, head: bytes, cookie_port: int | None = None, defaults: tuple[Field, ...] = ()
    ) -> AnswerHead:
        """Do what read_answer does."""
        key = (head, cookie_port, defaults)
        answer = self._cached.get(key)
        if answer is None:
            answer = read_answer(head, cookie_port, defaults)
            if len(head) <= MAX_CACHED_BYTES and b"\nset-cookie:" not in head.lower():
                if len(self._cached) >= MAX_CACHED_ANSWERS:
                    self._cached.clear()
                self._cached[key] = answer
        return answer


def read_answer(
    head: bytes, cookie_port: int | None = None, defaults: tuple[Field, ...] = ()
) -> AnswerHead:
    """Return a printer's head, as it came through the tunnel, as the caller may see it.

    cookie_port: the tunnel port for which a browser keeps the cookies (cookies.set_cookies).
    defaults: fields that a final answer gets if it has none of that name.
    Raises RemoteProtocolError and BadAnswer.
    """
    response = decode_response(head)
    kept: Headers = []
    length: int | None = None
    webcam_type = b""
    for field in response.headers:
        name = field[0].lower()
        if name not in _ANSWER_LOOKED_AT:
            if not name.startswith(_FOR_PROXIES):
                kept.append(field)
        elif name == b"set-cookie":
            kept += [(field[0], value) for value in set_cookies(field[1], cookie_port)]
        elif name == b"content-length":
            if length is not None:
                raise BadAnswer("two lengths")
            length = _read_length(field[1])
            kept.append(field)
        elif name == b"content-type":
            is_webcam = field[1].lower().startswith(b"multipart/x-mixed-replace")
            webcam_type = field[1] if is_webcam else b""
            kept.append(field)
    if response.status >= 200:
        kept += [field for field in defaults if get(kept, field[0].lower()) is None]
    fields = encode_answer_fields(response.status, kept)
    return AnswerHead(response.status, response.reason, fields, length, webcam_type)


def _read_length(value: bytes) -> int:
    if not value.isdigit() or len(value) > 19:
        raise BadAnswer("a length that is no number")
    return int(value)


class ForwardingPlan(NamedTuple):
    """Values that depend on header lines and a grant only.

    headers, grant: its inputs. digests, cookies: of the credentials in Authorization lines, and of
    the cookie. fields: the encoded lines for the printer.
    """

    headers: Headers
    grant: Grant
    digests: Sequence[bytes]
    cookies: Sequence[bytes]
    fields: bytes


def plan_forwarding(
    last: ForwardingPlan | None,
    request: Request,
    grant: Grant,
    *,
    scheme: str,
    tunnel_port: int | None,
) -> ForwardingPlan:
    """Return the plan of a request, or the connection's last one if its inputs are the same.

    An app that polls every second sends the same lines each time, and a browser nearly the same.
    Hashing credentials and filtering headers takes a quarter of the time of a small request.
    """
    if last is not None and last.headers is request.headers and last.grant is grant:
        return last
    presented = credentials_in_headers(request.headers, grant.kind, scheme, tunnel_port)
    cookie_port = tunnel_port if grant.kind in KINDS_WITH_COOKIES else None
    ours = presented.ours(grant.digests)
    fields = headers_for_printer(request.headers, ours, cookie_port)
    return ForwardingPlan(
        request.headers,
        grant,
        [*presented.authorizations.values()],
        presented.cookies,
        encode_fields(fields),
    )


def without_length(fields: bytes) -> bytes:
    """Return the header lines of a request whose body is left out."""
    lines = fields.splitlines(keepends=True)
    return b"".join([line for line in lines if not line.lower().startswith(b"content-length:")])
