"""Cancellations that come together with what was waited for.

aiomqtt waits by asyncio.wait_for, which forgets such a one before Python 3.12: what follows a
printer would go on for ever, and whoever stops it would wait for its end.
"""

import asyncio


def cancellations() -> int:
    """Return how many of the caller are under way."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def end_where_cancelled(*, since: int) -> None:
    """End, where there are more than there were."""
    if cancellations() > since:
        raise asyncio.CancelledError
