"""Errors of the protocol: our own mistakes and the other end's, and the codes that name them."""

from enum import IntEnum
from typing import Final


class CloseCode(IntEnum):
    """The reason why a tunnel ends, as in the CLOSE frame. Numbers never change."""

    NORMAL = 0
    REPLACED = 1  # a newer tunnel of the same agent took over
    NOT_WELCOME = 2  # sign-in refused
    UNLINKED = 3  # the printer was removed from its account
    VERSION_UNSUPPORTED = 4
    RESTARTING = 5
    OVERLOADED = 6
    SAME_NODE = 7  # a standby tunnel came to the node that has the agent's primary one

    BAD_FRAME = 100  # shorter or longer than its header says, or an unknown kind
    FRAME_TOO_LARGE = 101
    BAD_HEAD = 102
    UNEXPECTED_FRAME = 103  # right in itself, wrong now
    STREAM_REUSED = 104
    UNKNOWN_STREAM = 105
    WINDOW_OVERRUN = 106
    BAD_CREDIT = 107
    TOO_MANY_STREAMS = 108


class Reason(IntEnum):
    """The reason why one stream ends early, as in the RESET frame. Numbers never change."""

    CANCELLED = 0  # the caller went away, or the rest is not needed
    REFUSED = 1  # the agent doesn't serve this
    UNREACHABLE = 2  # the printer's web server can't be reached
    TIMED_OUT = 3  # the printer gave no answer in time
    BROKEN = 4  # the printer ended its answer early, or it was malformed
    LIMIT = 5  # a size or time limit was passed
    TUNNEL_LOST = 6  # local only: the tunnel closed beneath the stream
    TUNNEL_SILENT = 7  # local only: the other end stopped answering pings
    NOT_ALLOWED = 8  # the stream lacks the permission for this, or the agent never allows it
    PRINTER_LOST = 9  # between relay nodes: the agent's tunnel closed, or is not at this node
    PRINTER_SILENT = 10  # between relay nodes: the agent stopped answering pings


_LOCAL_REASONS: Final = frozenset({Reason.TUNNEL_LOST, Reason.TUNNEL_SILENT})
_REASONS: Final = {int(reason): reason for reason in Reason if reason not in _LOCAL_REASONS}


def reason_of(number: int) -> Reason:
    """Return the reason of a RESET frame; a number that we don't know means CANCELLED."""
    return _REASONS.get(number, Reason.CANCELLED)


class LocalProtocolError(Exception):
    """Our own code asked for something that the protocol forbids; a bug at this end."""


class RemoteProtocolError(Exception):
    """The other end broke the protocol; the tunnel ends with `code`."""

    def __init__(self, code: CloseCode, text: str) -> None:
        super().__init__(f"{code.name}: {text}")
        self.code = code
        self.text = text
