"""The forwarding plan of a request: its credentials, and the header lines for the printer."""

from collections.abc import Sequence
from typing import NamedTuple

from printreach.http1.heads import Request
from printreach.rules.connections import KINDS_WITH_COOKIES, Grant
from printreach.wire.heads import Headers, encode_fields

from .header_filter import credentials_in_headers, headers_for_printer


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
