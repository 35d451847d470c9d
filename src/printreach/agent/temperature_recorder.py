"""Records the printer's temperatures, so that a chart shows the time before anybody looked."""

import asyncio
from collections import deque
from collections.abc import Callable
from math import isfinite
from typing import Final

from printreach.contract.status import Temps
from printreach.contract.temperatures import INTERVAL_S, KEPT_S, TemperatureHistory
from printreach.contract.unset import UnsetType
from printreach.printers.port import Printer

_MAX_READINGS: Final = int(KEPT_S / INTERVAL_S)


class TemperatureRecorder:
    """The temperatures of the last two hours, in memory (some 250 KB).

    now: seconds, also while the machine sleeps.
    """

    def __init__(self, printer: Printer, now: Callable[[], float]) -> None:
        self._printer = printer
        self._now = now
        self._kept: deque[tuple[float, Temps]] = deque(maxlen=_MAX_READINGS)

    async def run(self) -> None:
        """Record until cancelled."""
        while True:
            self.record()
            await asyncio.sleep(INTERVAL_S)

    def record(self) -> None:
        """Record the present temperatures, unless the printer can't be reached."""
        view = self._printer.view
        if view.trouble is None:
            self._kept.append((self._now(), view.job.current_print.temps))

    def clear(self) -> None:
        self._kept.clear()

    def history(self, since_s: float = KEPT_S) -> TemperatureHistory:
        """Return the readings. since_s: how old they may be."""
        now = self._now()
        kept = [(now - at, temps) for at, temps in self._kept if now - at <= since_s]
        return TemperatureHistory(
            age_sec=[round(age, 1) for age, _ in kept],
            bed_actual=[_known(temps.bed_actual) for _, temps in kept],
            bed_target=[_known(temps.bed_target) for _, temps in kept],
            hotend_actual=[_known(temps.hotend_actual) for _, temps in kept],
            hotend_target=[_known(temps.hotend_target) for _, temps in kept],
            chamber_actual=[_known_or_none(temps.chamber_actual) for _, temps in kept],
            chamber_target=[_known_or_none(temps.chamber_target) for _, temps in kept],
        )


def _known(celsius: float) -> float:
    return round(celsius, 1) if isfinite(celsius) else 0.0  # which JSON can't hold


def _known_or_none(celsius: float | UnsetType) -> float | None:
    return None if isinstance(celsius, UnsetType) else _known(celsius)
