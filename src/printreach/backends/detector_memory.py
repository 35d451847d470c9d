"""The last states of the failure watch, within one process."""

from printreach.ports import Bus, Notice, Topic
from printreach.ports.relaying import DetectorReport


class MemoryDetectorStates:
    """ports.DetectorStates.

    remembers: False where other processes watch prints too, whose states are in the store alone.
    """

    def __init__(self, bus: Bus, *, remembers: bool = True) -> None:
        self._bus = bus
        self._remembers = remembers
        self._reports: dict[str, DetectorReport] = {}

    async def put(self, printer_id: str, report: DetectorReport) -> None:
        if self._remembers:
            self._reports[printer_id] = report
        await self._bus.publish(Notice(Topic.DETECTOR, printer_id))

    async def latest(self, printer_id: str) -> DetectorReport | None:
        return self._reports.get(printer_id)
