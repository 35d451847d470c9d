"""The way from this node to a printer's agent."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from printreach.contract.signin import REQUEST_IDS
from printreach.http1.heads import Request
from printreach.http1.tracing import Span
from printreach.languages import N_
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.frames import MAX_STREAMS
from printreach.wire.heads import REQUEST_ID_FIELD

from .commands import AgentClock

TRACE_PARENTS: Final = "trace-parents"
"""The capability of a node that takes the `traceparent` of a request at the beginning of a head."""

CONNECTION_STREAMS = MAX_STREAMS // 2  # not Final: tests change it, compiled too
"""Streams at once of one connection in a tunnel, so that no app takes those of the others."""
SHARED_STREAMS: Final = MAX_STREAMS - 64
"""Streams at once of all connections. The rest is kept for the service's own requests: status,
orders of the dashboard, and the orders that stop everything."""
TUNNEL_IS_FULL: Final = N_("More requests wait for the printer than it can take.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The way to a printer's agent: its own tunnel, or a link to the node where that ends.

    capabilities: of the agent. printer_id: begins the head of each stream on a link; "" for the
    agent's own tunnel. agent_run: tells the agent from an earlier run of it, and from another one
    with the same key. is_standby: the agent has its primary tunnel at another node.
    """

    tunnel: Tunnel
    clock: AgentClock
    platform: str
    capabilities: frozenset[str]
    printer_id: str = ""
    agent_run: str = ""
    is_standby: bool = False

    @property
    def is_here(self) -> bool:
        return not self.printer_id

    def start_of_head(
        self, request: Request, target: bytes, call: Span | None = None, *, is_own: bool
    ) -> bytes:
        """Return the beginning of a stream's head: what precedes it on a link, the first line, and
        the line of the request's id if the agent takes it off.

        call: the span of the call to the printer, which another node is told. is_own: the service's
        own request.
        """
        prefix = self._prefix(call, is_own=is_own) if self.printer_id else b""
        if REQUEST_IDS in self.capabilities:
            return _NAMED_START % (prefix, request.method, target, request.request_id)
        return _START % (prefix, request.method, target)

    def _prefix(self, call: Span | None, *, is_own: bool) -> bytes:
        printer = f"{self.printer_id}{OWN_MARK if is_own else ''}".encode()
        if call is None or TRACE_PARENTS not in self.tunnel.capabilities:
            return printer + b"\n"
        return b"%b %b\n" % (printer, call.trace_parent)


_START: Final = b"%b%b %b\r\n"
_NAMED_START: Final = _START + REQUEST_ID_FIELD + b": %b\r\n"
OWN_MARK: Final = "!"


class Prefix(NamedTuple):
    """What precedes a head on a link. is_own: the request is the service's own.

    trace_parent: of the other node's call; empty for none.
    """

    printer_id: str
    is_own: bool
    trace_parent: bytes


def split_prefix(head: bytes) -> tuple[Prefix, bytes]:
    """Return what precedes the head, and the head itself."""
    line, _, rest = head.partition(b"\n")
    printer, _, trace_parent = line.partition(b" ")
    text = printer.decode("ascii", errors="replace")
    return Prefix(text.removesuffix(OWN_MARK), text.endswith(OWN_MARK), trace_parent), rest
