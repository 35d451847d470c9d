"""What is told of requests where traces of them are wanted; backends/traces.py sends these.

A span is a piece of work for a request. Where nobody wants traces there is none, so whoever has one
to tell something asks for None first.
"""

from typing import Final, Protocol

CALLER_GONE: Final = "caller_gone"
"""A fault of no answer that has begun: callers end webcams and WebSockets by leaving."""


class Span(Protocol):
    """A piece of work for a request, from its making to `end`."""

    @property
    def trace_parent(self) -> bytes:
        """The value of the field `traceparent`, for what others do for this piece of work."""

    def is_for(self, route: str) -> None:
        """Tell the route that serves the request: a path of which there are few."""

    def begin_call(self, printer_id: str, *, is_here: bool) -> "Span":
        """Begin the call to a printer that this piece of work needs.

        is_here: its tunnel ends at this node, not at another one.
        """

    def answered(self, status: int) -> None:
        """Tell the status of the answer, which has begun."""

    def end(self, fault: str = "") -> None:
        """End it; a second end changes nothing.

        fault: what broke it off, as one word of few; "" where the answer is whole.
        """


class Tracing(Protocol):
    """Makes spans."""

    def begin_request(
        self, method: bytes, request_id: bytes, parent: bytes, *, is_inside: bool = False
    ) -> Span:
        """Begin the work for a request that came in.

        request_id: the trace's id where it has that form, and nothing else says one. parent: a
        `traceparent` that can be believed, or empty. is_inside: this process itself asks.
        """

    def begin_passing_on(
        self, method: bytes, request_id: bytes, parent: bytes, printer_id: str
    ) -> Span:
        """Begin the work for a request of another node, to a printer whose tunnel ends here."""

    def begin_delivery(self, host: str, port: int) -> Span:
        """Begin a POST to a server of strangers."""
