"""The Duet adapter: a live view of its object model, and commands as G-code."""

from printreach.contract.commands import (
    Adjust,
    Extrude,
    Home,
    MoveAxis,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDone
from printreach.contract.unset import UnsetType
from printreach.languages import N_, in_english
from printreach.printers.http_api import NotFound
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import (
    Camera,
    failed,
    no_such_file,
    not_supported,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup

from . import gcode
from . import model as duet
from .files import DuetFiles, platform_path
from .http import DuetHttp
from .known_state import is_fully_paused
from .live_view import LiveView
from .pause_plan import DuetPausePlan

STORAGE = "0:"


def make(setup: PrinterSetup) -> "DuetPrinter":
    return DuetPrinter(setup)


class DuetPrinter(PausingPrinter[LiveView]):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._http = DuetHttp(setup)
        live_view = LiveView(self._http, setup)
        super().__init__(setup, live_view, DuetPausePlan(live_view, setup.limits))
        self.files = DuetFiles(live_view.board, setup.data_dir)

    async def _close(self) -> None:
        await self._live_view.close()
        await self._http.close()

    async def cameras(self) -> list[Camera]:
        """Return no cameras: a board has none, its owner sets them in the agent's options."""
        return []

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, STORAGE)
        stored = platform_path(order.path)
        try:
            await self._live_view.board().file_info(stored)
        except NotFound:
            raise no_such_file(order.path) from None
        await self._live_view.order(gcode.start(stored))
        return FileDone(virtual_path=order.path, platform_path=stored)

    async def set_light(self, order: SetLight) -> None:  # noqa: ARG002  # none is known as a light
        raise not_supported(N_("This printer can't switch a light."))

    async def move_axis(self, order: MoveAxis) -> None:
        await self._live_view.order(gcode.move(order.axis.value, order.distance_mm))

    async def home(self, order: Home) -> None:
        await self._live_view.order(gcode.home(order.homed))

    async def adjust(self, order: Adjust) -> None:
        drives = {n for tool in duet.tools(self._live_view.known.model) for n in tool.extruders}
        await self._live_view.order(gcode.adjust(order, sorted(drives)))

    async def emergency_stop(self) -> None:
        """Firmware looks for it ahead of all that waits, and has to be reset afterwards."""
        await self._live_view.order(gcode.EMERGENCY_STOP)

    async def restart_firmware(self) -> None:
        await self._live_view.order(gcode.RESTART)

    async def extrude(self, order: Extrude) -> None:
        """With the tool of that number, which goes back to where it was in a paused print."""
        number = self._tool("Extruder", order.extruder)
        if duet.is_too_cold(self._live_view.known.model, number):
            raise failed(
                in_english(
                    "The hotend of extruder %(number)s is too cold to move filament.", number=number
                )
            )
        before = duet.current_tool(self._live_view.known.model)
        is_paused = is_fully_paused(self._live_view.known)
        lines = [*gcode.extrude(order.distance_mm)]
        if before != order.extruder:
            lines = [*gcode.select_tool(order.extruder), *lines]
            if is_paused and before is not None:
                lines += gcode.select_tool(before)
        await self._live_view.order(lines)

    async def set_temp(self, order: SetTemp) -> None:
        model = self._live_view.known.model
        require_tools_of(order, [tool.number for tool in duet.tools(model)])
        lines = []
        if not isinstance(order.tool_c, UnsetType):
            number = order.tool_number if isinstance(order.tool_number, int) else None
            lines.append(gcode.heat_tool(self._tool("ToolNumber", number), order.tool_c))
        if not isinstance(order.bed_c, UnsetType):
            if duet.bed(model) is None:
                raise not_supported(N_("This printer can't heat a bed."))
            lines.append(gcode.heat_bed(order.bed_c))
        if not isinstance(order.chamber_c, UnsetType):
            if duet.chamber(model) is None:
                raise not_supported(N_("This printer can't heat a chamber."))
            lines.append(gcode.heat_chamber(order.chamber_c))
        await self._live_view.order(lines)

    def _tool(self, argument: str, number: int | None) -> int:
        """Return the number if there is such a tool.

        Without a number, the tool in use or the first.
        """
        model = self._live_view.known.model
        numbers = [tool.number for tool in duet.tools(model)]
        if number is None:
            current = duet.current_tool(model)
            number = current if current is not None else next(iter(numbers), 0)
        require_tool(argument, number, numbers)
        return number
