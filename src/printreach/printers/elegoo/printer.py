"""The part of the adapter that both protocols share: pausing, and the check of temperatures."""

from typing import Generic, TypeVar

from printreach.contract.commands import Extrude, SetTemp
from printreach.contract.files import JsonObject
from printreach.contract.unset import UnsetType
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import not_supported, require_tools_of
from printreach.printers.setup import PrinterSetup

from .files import ElegooFiles
from .pause_plan import ElegooPausePlan, Orders, V

F = TypeVar("F", bound=ElegooFiles)


class ElegooPrinter(PausingPrinter[V], Generic[F, V]):
    """printers.port.Printer, without the commands that differ between the protocols."""

    def __init__(self, setup: PrinterSetup, live_view: V, orders: Orders, files: F) -> None:
        super().__init__(setup, live_view, ElegooPausePlan(orders, live_view, setup.limits))
        self.files = files
        self._host = setup.host
        self._camera_hosts = setup.camera_hosts

    async def _close(self) -> None:
        await self.files.close()

    async def extrude(self, order: Extrude) -> None:  # noqa: ARG002  # in no case
        raise not_supported("extrude by hand")


def targets_of(order: SetTemp, *, hotend: str, bed: str) -> JsonObject:
    """Return the targets by the protocol's names for the heaters. Raises PrinterRefused."""
    if not isinstance(order.chamber_c, UnsetType):
        raise not_supported("heat a chamber")
    require_tools_of(order, (0,))
    targets: JsonObject = {}
    if not isinstance(order.tool_c, UnsetType):
        targets[hotend] = order.tool_c
    if not isinstance(order.bed_c, UnsetType):
        targets[bed] = order.bed_c
    return targets
