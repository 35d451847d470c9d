"""Ids of requests: who gives a request its id, and how new ones are made."""

import re
from collections.abc import Sequence
from random import Random
from typing import Final

from printreach.wire.heads import (
    REQUEST_ID_FIELD,
    TRACE_PARENT_FIELD,
    Headers,
    get,
    is_request_id,
)

from .caller_origin import Network, is_within

TRACE_PARENT: Final = b"traceparent"
"""The field of W3C's Trace Context. Where proxies name requests in it, its trace is the id."""

_IS_TRACE_PARENT: Final = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_HALF_BYTES: Final = 8
_AT_ONCE: Final = 256
"""How many ids are made together, since that takes a fraction of the time."""


class RequestIds:
    """Names requests.

    An id is 32 hexadecimal digits, half of them of this process. They are no secrets, so their
    randomness is arithmetic. networks, field: of proxies that name requests themselves, and the
    field, in lower case, in which they do; empty for none.
    """

    def __init__(self, seed: bytes, networks: Sequence[Network] = (), field: bytes = b"") -> None:
        self._random = Random(seed)  # noqa: S311 - ids are no secrets
        self._own = self._random.randbytes(_HALF_BYTES).hex()
        self._unused: list[bytes] = []
        self._networks = networks
        self._field = field

    def name(self, peer: str, headers: Headers, is_inside: bool) -> bytes:
        """Return the id of a request.

        What the request says itself counts only where it comes from the service, or from a proxy as
        above.
        """
        if is_inside or self._field:
            given = self._given(peer, headers, is_inside)
            if given is not None and is_request_id(given):
                return given
        if not self._unused:
            self._unused = self._make()
        return self._unused.pop()

    def trace_parent(self, peer: str, headers: Headers, is_inside: bool) -> bytes:
        """Return the `traceparent` of a request; empty where none can be believed, as above."""
        if is_inside:
            return get(headers, TRACE_PARENT_FIELD.lower()) or b""
        if self._field != TRACE_PARENT or not is_within(peer, self._networks):
            return b""
        given = get(headers, TRACE_PARENT) or b""
        return given if _IS_TRACE_PARENT.fullmatch(given) else b""

    def _given(self, peer: str, headers: Headers, is_inside: bool) -> bytes | None:
        if is_inside:
            return get(headers, REQUEST_ID_FIELD.lower())
        given = get(headers, self._field) if is_within(peer, self._networks) else None
        if self._field == TRACE_PARENT and given is not None:
            trace = _IS_TRACE_PARENT.fullmatch(given)
            return None if trace is None else trace[1]
        return given

    def _make(self) -> list[bytes]:
        digits, step = self._random.randbytes(_AT_ONCE * _HALF_BYTES).hex(), 2 * _HALF_BYTES
        starts = range(0, len(digits), step)
        return [f"{self._own}{digits[at : at + step]}".encode() for at in starts]
