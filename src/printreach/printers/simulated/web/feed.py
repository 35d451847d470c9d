"""The status as it changes, for WebSockets and event streams."""

import asyncio

import msgspec

from printreach.printers.simulated.engine import Engine

from .reports import report_status

_SHORTEST_S = 0.25
"""At most four a second to each watcher."""


class StatusFeed:
    """One watcher's view of the status. Costs nothing unless next() is awaited."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen_version = -1
        self._last = b""
        self._due_s = 0.0

    async def next(self) -> bytes:
        """Return the status as JSON, once it is another than the last. The first comes at once."""
        loop = asyncio.get_running_loop()
        while True:
            await self._engine.wait_for_change(self._seen_version)
            await asyncio.sleep(max(self._due_s - loop.time(), 0.0))
            self._seen_version = self._engine.version
            report = msgspec.json.encode(report_status(self._engine.printer, self._engine.speed))
            if report != self._last:
                self._last = report
                self._due_s = loop.time() + _SHORTEST_S
                return report
