"""The last states of the failure watch, within one process."""

from printreach.ports import Bus, Notice, Topic
from printreach.ports.relaying import DetectorReport


class MemoryDetectorStates:
    """ports.DetectorStates."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._reports: dict[str, DetectorReport] = {}

    async def put(self, printer_id: str, report: DetectorReport) -> None:
        self._reports[printer_id] = report
        await self._bus.publish(Notice(Topic.DETECTOR, printer_id))

    async def latest(self, printer_id: str) -> DetectorReport | None:
        return self._reports.get(printer_id)
