"""The share that work takes of what is scarce, so that callers have it fairly.

A caller is known by its network first, and by its account once it has signed in. So the share of a
request may change while it is under way.
"""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Share:
    """The share that work counts for. key: a network or an account."""

    key: str


CURRENT_SHARE: ContextVar[Share | None] = ContextVar("current_share", default=None)
"""Of the request that this task works for; None for the service's own work."""
