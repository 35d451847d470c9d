"""The events that a caller's connection reports to the handler of its request."""

from typing import Protocol


class CallerExchange(Protocol):
    """The handler of one request: a connection reports to it what the caller does."""

    def on_body(self, data: bytes, fin: bool) -> None: ...
    def on_raw(self, data: bytes) -> None:
        """Bytes after an upgrade."""

    def on_raw_end(self) -> None:
        """The caller ended its direction after an upgrade; it may still read."""

    def on_caller_writable(self) -> None: ...
    def on_caller_gone(self) -> None:
        """The caller is gone and no one waits for the answer. Nothing follows."""
