"""Cancellations that arrive together with the awaited result.

aiomqtt waits by asyncio.wait_for, which loses such a cancellation before Python 3.12: the task that
follows a printer would run for ever, and a caller that stops it would wait for its end.
"""

import asyncio


def cancellations() -> int:
    """Return how many cancellations of the current task are under way."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def end_where_cancelled(*, since: int) -> None:
    """Raise CancelledError if there are more cancellations than before."""
    if cancellations() > since:
        raise asyncio.CancelledError
