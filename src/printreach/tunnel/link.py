"""Links: they carry whole messages between two ends, in order. A WebSocket, or a fake in memory."""

from typing import Final, Protocol

MAX_UNSIGNED_MESSAGE_BYTES: Final = 16 * 1024
"""The limit before sign-in: the messages of sign-in need a tenth of it, and any client may
connect."""


class LinkReceiver(Protocol):
    """Callbacks of a link. `data` is only valid during the call."""

    def on_link_message(self, data: bytes | memoryview) -> int:
        """Return how many tiny frames it held, which cost much more than their bytes."""

    def on_link_congested(self) -> None: ...
    def on_link_clear(self) -> None: ...
    def on_link_lost(self, detail: str) -> None:
        """Called exactly once, also after our own close."""


class Link(Protocol):
    def start(self, receiver: LinkReceiver) -> None:
        """Begin to deliver messages; those that came before are delivered first."""

    def send(self, message: bytes) -> None:
        """Send a message without blocking; on_link_congested says when to hold back."""

    def close(self) -> None:
        """Send what is queued, then close."""

    def abort(self) -> None:
        """Close now; what is queued is lost."""
