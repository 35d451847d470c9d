"""Fields that the relay adds to a request: its permissions, and for commands an id, an expiry, and
the owner's choices for cameras.

The relay doesn't parse commands; the agent acts on these fields (docs/protocol.md).
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Final

from printreach.contract.cameras import CameraChoice, format_choices_field
from printreach.contract.commands import (
    CAMERAS_FIELD,
    COMMAND_EXPIRES_FIELD,
    COMMAND_ID_FIELD,
    COMMAND_PREFIX,
    PERMISSIONS_FIELD,
)
from printreach.http1.heads import Request
from printreach.rules.connections.permissions import Access, format_access_stamp
from printreach.rules.printers.commands import COMMAND_LIFETIME_S
from printreach.wire.heads import REQUEST_ID_FIELD, TRACE_PARENT_FIELD, Headers, get

OURS: Final = frozenset(
    field.lower()
    for field in (
        *(COMMAND_ID_FIELD, COMMAND_EXPIRES_FIELD, PERMISSIONS_FIELD, CAMERAS_FIELD),
        *(REQUEST_ID_FIELD, TRACE_PARENT_FIELD),
    )
)
_LISTS_CAMERAS: Final = frozenset({COMMAND_PREFIX + b"/status", COMMAND_PREFIX + b"/webcam/list"})

_CONNECTION_DIGITS: Final = 16


def permission_stamp(access: Access) -> Headers:
    """Return the field with the stream's permissions; none if it has all of them."""
    return [] if access.is_full else [(PERMISSIONS_FIELD, format_access_stamp(access))]


def camera_stamp(target: bytes, choices: Sequence[CameraChoice]) -> Headers:
    """Return the field with the owner's choices for cameras; none where no cameras are listed."""
    is_needed = bool(choices) and target.partition(b"?")[0] in _LISTS_CAMERAS
    return [(CAMERAS_FIELD, format_choices_field(choices))] if is_needed else []


@dataclass(frozen=True, slots=True)
class AgentClock:
    """An agent's clock: it was given the time when it signed in, and counts on from there.

    unix_s: the time it was given. at: seconds of the event loop's clock at that moment.
    """

    unix_s: float
    at: float

    def unix_s_at(self, now: float) -> float:
        """Return the agent's time. now: seconds of the event loop's clock."""
        return self.unix_s + now - self.at


class CommandStamps:
    """Makes the fields of commands. node_id: unique to this process, so that command ids are."""

    def __init__(self, node_id: str, now: Callable[[], datetime]) -> None:
        self._node_id = node_id
        self._now = now
        self._numbers = count(1)

    def stamp(self, request: Request, unique_id: str, agents_unix_s: float) -> Headers:
        """Return the two fields. The same Idempotency-Key of the same connection gives the same id.

        agents_unix_s: the agent's time. It counts if our own clock was set back since sign-in, as
        every command would otherwise look expired to the agent.
        """
        now_s = max(self._now().timestamp(), agents_unix_s)
        expires_ms = int((now_s + COMMAND_LIFETIME_S) * 1000)
        return [
            (COMMAND_ID_FIELD, self._id(request, unique_id)),
            (COMMAND_EXPIRES_FIELD, b"%d" % expires_ms),
        ]

    def _id(self, request: Request, unique_id: str) -> bytes:
        """Return the connection as the agent is told it, a dot, and what tells its orders apart."""
        connection = hashlib.sha256(unique_id.encode()).hexdigest()[:_CONNECTION_DIGITS]
        key = get(request.headers, b"idempotency-key")
        if key is None:
            return f"{connection}.{self._node_id}-{next(self._numbers)}".encode()
        # With the connection in it: one app's key must not bring up another's result.
        order = hashlib.sha256(unique_id.encode() + b"\0" + key).hexdigest()
        return f"{connection}.{order}".encode()
