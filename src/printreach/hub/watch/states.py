"""The last state of each watch, for agents and apps: from this process, or else from the store.

So a restart forgets nothing, and a process without a worker knows as much as the worker.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from printreach.hub.watch.parts import report_of
from printreach.ports import Clock
from printreach.ports.relaying import DetectorReport, DetectorStates
from printreach.rules.watch.memory import WatchedPrint
from printreach.store.gathered import Gathered
from printreach.store.store import Store


@dataclass(kw_only=True, slots=True)
class CachedDetectorStates:
    """ports.DetectorStates. heard: states that were reported in this process."""

    heard: DetectorStates
    store: Store
    clock: Clock
    _looking_up: Gathered[str, WatchedPrint | None] = field(init=False)

    def __post_init__(self) -> None:
        self._looking_up = Gathered(self._under_watch)

    async def put(self, printer_id: str, said: DetectorReport) -> None:
        await self.heard.put(printer_id, said)

    async def latest(self, printer_id: str) -> DetectorReport | None:
        said = await self.heard.latest(printer_id)
        if said is not None:
            return said
        watched = await self._looking_up.do(printer_id)
        if watched is None:
            return None
        at = self.clock.now()
        return report_of(watched.print_id, watched.memory, watched.settings, at)

    async def _under_watch(self, printer_ids: Sequence[str]) -> Sequence[WatchedPrint | None]:
        found = await self.store.read_for_service(
            lambda records: records.watches.all_under_watch(printer_ids)
        )
        return [found.get(printer_id) for printer_id in printer_ids]
