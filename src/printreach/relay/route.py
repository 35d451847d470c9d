"""The way from this node to a printer's agent."""

from dataclasses import dataclass
from typing import Final

from printreach.contract.signin import REQUEST_IDS
from printreach.http1.heads import Request
from printreach.languages import N_
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.frames import MAX_STREAMS
from printreach.wire.heads import REQUEST_ID_FIELD

from .commands import AgentClock

CONNECTION_STREAMS: Final = MAX_STREAMS // 2
"""Streams at once of one connection in a tunnel, so that no app takes those of the others."""
SHARED_STREAMS: Final = MAX_STREAMS - 64
"""Streams at once of all connections. The rest is kept for the service's own requests: status,
orders of the dashboard, and the orders that stop everything."""
TUNNEL_IS_FULL: Final = N_("More requests wait for the printer than it can take.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The way to a printer's agent: its own tunnel, or a link to the node where that ends.

    capabilities: of the agent. printer_id: begins the head of each stream on a link; "" for the
    agent's own tunnel.
    """

    tunnel: Tunnel
    clock: AgentClock
    platform: str
    capabilities: frozenset[str]
    printer_id: str = ""

    @property
    def is_here(self) -> bool:
        return not self.printer_id

    def start_of_head(self, request: Request, target: bytes, *, is_own: bool) -> bytes:
        """Return the beginning of a stream's head: what precedes it on a link, the first line, and
        the line of the request's id if the agent takes it off.

        is_own: the service's own request.
        """
        mark = OWN_MARK if is_own else ""
        prefix = f"{self.printer_id}{mark}\n".encode() if self.printer_id else b""
        if REQUEST_IDS in self.capabilities:
            return _NAMED_START % (prefix, request.method, target, request.request_id)
        return _START % (prefix, request.method, target)


_START: Final = b"%b%b %b\r\n"
_NAMED_START: Final = _START + REQUEST_ID_FIELD + b": %b\r\n"
OWN_MARK: Final = "!"


def split_prefix(head: bytes) -> tuple[str, bool, bytes]:
    """Return the printer, whether the request is the service's own, and the head itself."""
    line, _, rest = head.partition(b"\n")
    text = line.decode("ascii", errors="replace")
    return text.removesuffix(OWN_MARK), text.endswith(OWN_MARK), rest
