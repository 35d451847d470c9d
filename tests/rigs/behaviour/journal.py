"""The record of a request, and the go-ahead that a stepped answer waits for."""

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

What = Literal["began", "received", "sent", "complete", "cancelled", "closed"]


@dataclass(frozen=True)
class Entry:
    """One thing that happened.

    at: seconds of the machine's monotonic clock, which all its processes share.
    detail: bytes so far (received, sent) or the close code (closed).
    """

    at: float
    what: What
    detail: int


class Journal:
    """Entries and steps, by the key that a test chose for its request."""

    def __init__(self) -> None:
        self._entries: defaultdict[str, list[Entry]] = defaultdict(list)
        self._steps: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))

    def note(self, key: str, what: What, detail: int = 0) -> None:
        """Remember that this happened now."""
        self._entries[key].append(Entry(time.monotonic(), what, detail))

    def entries(self, key: str) -> list[Entry]:
        """Everything noted under key, oldest first."""
        return list(self._entries[key])

    def allow_step(self, key: str) -> None:
        """Let the answer of this key go one step further."""
        self._steps[key].release()

    async def step(self, key: str) -> None:
        """Wait until a test allows one more step."""
        await self._steps[key].acquire()
