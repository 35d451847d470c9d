"""The id and the span of the request that is being served: for the log, and for requests that serve
it.
"""

from contextvars import ContextVar
from typing import Final

from .tracing import Span

REQUEST_ID: Final[ContextVar[str]] = ContextVar("request_id", default="")
"""Of the request that the current task serves; empty for work that no request asked for."""
SPAN: Final[ContextVar[Span | None]] = ContextVar("span", default=None)
"""Of that request, where traces are wanted."""


def about(request_id: bytes) -> dict[str, str]:
    """Return the `extra` of a log record that is about a request, outside of its task."""
    return {"request_id": request_id.decode("ascii")}
