"""The part that adapters share whose smart pauses are made of commands."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic

from printreach.contract.commands import Pause

from .pause_plan import PausePlan, V
from .port import View
from .setup import PrinterSetup
from .smart_pauses import SmartPauses


class PausingPrinter(ABC, Generic[V]):
    """The view of a printers.port.Printer, and its orders that have to do with pauses."""

    def __init__(self, setup: PrinterSetup, live_view: V, plan: PausePlan[Any]) -> None:
        self._live_view = live_view
        self.restores = SmartPauses(setup.data_dir, plan, live_view.changes.tell)
        live_view.on_update = self.restores.on_update

    @property
    def view(self) -> View:
        return self.restores.shown(self._live_view.view)

    def on_change(self, callback: Callable[[], None]) -> None:
        self._live_view.changes.add(callback)

    async def run(self) -> None:
        try:
            await self._live_view.run()
        finally:
            await self.restores.close()
            await self._close()

    @abstractmethod
    async def _close(self) -> None:
        """Close what else is open, once the printer is no longer followed."""

    async def pause(self, order: Pause) -> None:
        await self.restores.pause(order)

    async def resume(self) -> None:
        await self.restores.resume()

    async def cancel(self) -> None:
        await self.restores.cancel()
