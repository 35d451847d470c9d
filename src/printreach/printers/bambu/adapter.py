"""A Bambu Lab printer as a Printer: MQTT for what it does, FTPS for files, and its camera."""

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
from printreach.contract.status import UNDER_WAY
from printreach.contract.unset import UnsetType
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import (
    Camera,
    MqttEndpoint,
    bad_path,
    failed,
    not_supported,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup

from . import orders
from .api import USER, BambuApi
from .camera import cameras_of
from .estimates import Estimates
from .files import BambuFiles
from .live_view import LiveView
from .materials import extruders_of
from .pause_plan import BambuPausePlan

CARD = "sdcard"
TARGET_S = 4.0
"""Seconds until a new target must have appeared in the report."""


def make(setup: PrinterSetup) -> "BambuPrinter":
    return BambuPrinter(setup)


class BambuPrinter(PausingPrinter[LiveView]):
    """printers.port.Printer."""

    def __init__(self, setup: PrinterSetup) -> None:
        self._setup = setup
        self._api = BambuApi(setup)
        live_view = LiveView(setup, self._api)
        super().__init__(setup, live_view, BambuPausePlan(self._api, live_view, setup.limits))
        self.files = BambuFiles(setup)
        self._estimates = Estimates(self.files.sliced)
        live_view.sliced = self._estimates.of
        live_view.on_update = self._on_update

    @property
    def mqtt(self) -> MqttEndpoint:
        setup = self._setup
        return MqttEndpoint(
            host=setup.host, port=setup.port, tls=True, user=USER, password=setup.access_code
        )

    async def _close(self) -> None:
        await self._estimates.close()

    async def cameras(self) -> list[Camera]:
        return cameras_of(self._live_view.known, self._setup)

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, CARD)
        problem = orders.start_problem(order)
        if problem is not None:
            raise bad_path(problem)
        inside = order.path.partition("/")[2]
        await self.files.require(order.path)
        self._estimates.started(order.path)
        answer = await self._api.order(orders.start(order, inside))
        return FileDone(
            virtual_path=order.path,
            platform_path=f"/{inside}",
            printer_response=loose.plain(answer),
        )

    async def set_light(self, order: SetLight) -> None:
        await self._api.order(orders.light(order.name, on=order.on))

    async def move_axis(self, order: MoveAxis) -> None:
        await self._gcode(orders.move_lines(order.axis, order.distance_mm))

    async def home(self, _order: Home, /) -> None:
        await self._api.order(orders.HOME)

    async def adjust(self, order: Adjust) -> None:
        """Choose the level of speed, which is all that it adjusts."""
        if not isinstance(order.speed_level, UnsetType):
            await self._api.order(orders.speed(order.speed_level))

    async def extrude(self, order: Extrude) -> None:
        require_tool("Extruder", order.extruder, range(self._extruders))
        if self.view.job.current_print.temps.hotend_actual < orders.COLDEST_EXTRUSION_C:
            coldest = f"{orders.COLDEST_EXTRUSION_C:.0f}"
            raise failed(
                in_english(
                    "The nozzle is too cold: filament moves from %(coldest)s degrees on.",
                    coldest=coldest,
                )
            )
        await self._gcode(orders.extrude_lines(order.distance_mm))

    async def set_temp(self, order: SetTemp) -> None:
        if not isinstance(order.chamber_c, UnsetType):
            raise not_supported(N_("This printer can't heat a chamber."))
        require_tools_of(order, range(self._extruders))
        for waits in (False, True):
            lines = orders.temp_lines(order, extruders=self._extruders, waits=waits)
            await self._gcode(lines)
            if await self._live_view.wait_until(lambda: self._has_targets(order), TARGET_S):
                return
            if self._live_view.state in UNDER_WAY:
                break  # a heater that is waited for would hold the print up
        raise failed(N_("The printer accepted the order, but did not change its temperature."))

    def _on_update(self) -> None:
        if self._live_view.view.trouble is None:
            self._estimates.on_update(self._live_view.known.report, self._live_view.state)
        self.restores.on_update()

    def _has_targets(self, order: SetTemp) -> bool:
        temps = self._live_view.temps
        pairs = [(order.bed_c, temps.bed_target)]
        if self._extruders == 1:  # of several, it is not told whose the report's target is
            pairs.append((order.tool_c, temps.hotend_target))
        return all(isinstance(want, UnsetType) or abs(want - has) < 1 for want, has in pairs)

    @property
    def _extruders(self) -> int:
        return max(1, len(extruders_of(self._live_view.known.report)))

    async def _gcode(self, lines: list[str]) -> None:
        await self._api.order(orders.gcode(*lines))
