"""The last state of each watch, for agents and apps: from this process, or else from the store.

So a restart forgets nothing, and a process without a worker knows as much as the worker.
"""

from dataclasses import dataclass

from printreach.hub.watch.parts import report_of
from printreach.ports import Clock
from printreach.ports.relaying import DetectorReport, DetectorStates
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedDetectorStates:
    """ports.DetectorStates. heard: states that were reported in this process."""

    heard: DetectorStates
    store: Store
    clock: Clock

    async def put(self, printer_id: str, said: DetectorReport) -> None:
        await self.heard.put(printer_id, said)

    async def latest(self, printer_id: str) -> DetectorReport | None:
        said = await self.heard.latest(printer_id)
        if said is not None:
            return said
        watched = await self.store.read(lambda records: records.watches.under_watch(printer_id))
        if watched is None:
            return None
        at = self.clock.now()
        return report_of(watched.print_id, watched.memory, watched.settings, at)
