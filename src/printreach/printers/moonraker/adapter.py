"""The adapter for Klipper through Moonraker."""

from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from printreach.contract.commands import (
    Extrude,
    MoveAxis,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDone
from printreach.contract.status import State
from printreach.contract.unset import UnsetType
from printreach.printers.following import ChangeListeners, keep_following
from printreach.printers.http_api import NotFound
from printreach.printers.port import (
    Camera,
    PrinterRefused,
    View,
    failed,
    no_such_file,
    not_supported,
    require_storage,
    require_tool,
    require_tools_of,
    trouble_of,
)
from printreach.printers.setup import PrinterSetup
from printreach.printers.smart_pauses import PausesSmartly, SmartPauses

from . import gcode
from .api import MoonrakerApi
from .cameras import CameraFinder
from .entries import place_of
from .files import MoonrakerFiles, target_of
from .machine import LightKind, LightSource, short_name
from .pause_plan import BED, MoonrakerPausePlan
from .session import Session
from .status import KnownState, active_extruder, all_lights
from .translate import full_value

LOCAL_STORAGE = "local"


def make(setup: PrinterSetup) -> "MoonrakerPrinter":
    return MoonrakerPrinter(setup)


class MoonrakerPrinter(PausesSmartly):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._setup = setup
        self._api = MoonrakerApi(setup)
        self._finder = CameraFinder(setup, self._api)
        self._plan = MoonrakerPausePlan(
            self._api, lambda: self._session, lambda: self._view.trouble is None, setup.limits
        )
        self.restores = SmartPauses(setup.data_dir, self._plan, self._redraw)
        self._session = self._new_session(KnownState())
        self._view = self._changed = View()
        self._changes = ChangeListeners()
        self.files = MoonrakerFiles(self._api, setup.token_bytes)

    @property
    def view(self) -> View:
        return self._view

    def on_change(self, callback: Callable[[], None]) -> None:
        self._changes.add(callback)

    async def run(self) -> None:
        uniform = self._setup.uniform
        try:
            await keep_following(self._follow, self._on_lost, lambda: self._changed, uniform)
        finally:
            await self.restores.close()
            await self.files.close()
            await self._api.close()

    async def cameras(self) -> list[Camera]:
        return await self._finder.cameras()

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, LOCAL_STORAGE)
        place = place_of(order.path)
        try:
            await self._api.head(target_of(place))
        except NotFound:
            raise no_such_file(order.path) from None
        await self._api.order("printer.print.start", {"filename": place.inside})
        await self._session.refresh()
        return FileDone(virtual_path=order.path, platform_path=place.platform_path)

    async def set_light(self, order: SetLight) -> None:
        light = next((light for light in all_lights(self._known) if light.name == order.name), None)
        if not isinstance(light, LightSource):
            action = "on" if order.on else "off"
            switch = {"device": order.name, "action": action}
            await self._api.order("machine.device_power.post_device", switch)
        elif light.kind is LightKind.PIN:
            value = full_value(self._known, light) if order.on else 0.0
            await self._api.run(gcode.set_pin(light.name, value))
        else:
            await self._api.run(gcode.set_led(light.name, on=order.on))

    async def move_axis(self, order: MoveAxis) -> None:
        await self._move(gcode.move(order.axis, order.distance_mm))

    async def home(self) -> None:
        await self._api.run(gcode.HOME)

    async def extrude(self, order: Extrude) -> None:
        extruder = self._extruder("Extruder", order.extruder)
        active = active_extruder(self._known) or extruder
        script = gcode.extrude(order.distance_mm, extruder, active)
        await self._move(script, undone_by=gcode.restored(active))

    async def set_temp(self, order: SetTemp) -> None:
        machine = self._known.machine
        require_tools_of(order, range(len(machine.extruders)))
        targets: dict[str, float] = {}
        if not isinstance(order.tool_c, UnsetType):
            targets[self._heated_tool(order)] = order.tool_c
        if not isinstance(order.bed_c, UnsetType):
            if not machine.has_bed:
                raise not_supported("heat a bed")
            targets[BED] = order.bed_c
        if not isinstance(order.chamber_c, UnsetType):
            if machine.chamber is None or not machine.has_chamber_heater:
                raise not_supported("heat its chamber")
            targets[short_name(machine.chamber)] = order.chamber_c
        await self._api.run(gcode.set_targets(targets))

    async def make_api_key(self, app_name: str) -> str:  # noqa: ARG002  # there is one for all
        """Moonraker has one key. It is read, not made again: a new one would lock others out."""
        key = await self._api.query("/access/api_key")
        if not isinstance(key, str) or not key:
            raise failed("Moonraker gave no key.")
        return key

    # --- helpers ----------------------------------------------------------------------------------

    @property
    def _known(self) -> KnownState:
        return self._session.known

    def _new_session(self, known: KnownState) -> Session:
        return Session(self._api, self._finder, known, self._setup.printer_id, self._show)

    async def _follow(self) -> None:
        """Raises PrinterRefused when Moonraker is lost."""
        self._session = self._new_session(self._known)
        await self._session.live()

    def _on_lost(self, refused: PrinterRefused) -> None:
        self._view = View(trouble=trouble_of(refused))
        self._changes.tell()
        self._on_update()

    def _show(self, view: View) -> None:
        if view.trouble is None and self.restores.is_restoring and view.job.state is State.PAUSED:
            view = replace(view, job=structs.replace(view.job, state=State.RESUMING))
        self._view = view
        self._changes.tell()
        if view.trouble is None:
            self._changed = view
        self._on_update()

    def _redraw(self) -> None:
        self._session.redraw()

    def _on_update(self) -> None:
        self._plan.updates.tell()
        self.restores.on_update()

    async def _move(self, script: str, undone_by: str = gcode.RESTORE) -> None:
        try:
            await self._api.run(script)
        except PrinterRefused:
            if self._view.trouble is None:
                await self._api.run(undone_by)
            raise

    def _heated_tool(self, order: SetTemp) -> str:
        if isinstance(order.tool_number, int):
            return self._extruder("ToolNumber", order.tool_number)
        extruder = active_extruder(self._known)
        if extruder is None:
            raise not_supported("heat a hotend")
        return extruder

    def _extruder(self, argument: str, number: int) -> str:
        extruders = self._known.machine.extruders
        require_tool(argument, number, range(len(extruders)))
        return extruders[number]
