"""The adapter for Klipper through Moonraker, and the presets of Mainsail and Fluidd.

Those are kept in Moonraker's database. Their heaters have Klipper's names, and each says whether it
is part of the preset. The G-code that a preset may have besides is never run.
Source: Mainsail 2.x, src/store/gui/presets/types.ts; Fluidd 1.x, src/store/config/types.ts.
"""

from collections.abc import Iterable
from typing import Final

from printreach.contract.commands import (
    Adjust,
    CommandStatus,
    Extrude,
    Home,
    MoveAxis,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDone
from printreach.contract.temperatures import Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.http_api import NotFound
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import (
    Camera,
    PrinterRefused,
    failed,
    no_such_file,
    not_supported,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup

from . import gcode
from .api import MoonrakerApi
from .cameras import CameraFinder
from .entries import place_of
from .files import MoonrakerFiles, target_of
from .live_view import LiveView
from .machine import LightKind, LightSource, Machine, short_name
from .pause_plan import BED, MoonrakerPausePlan
from .status import KnownState, active_extruder, all_lights, is_homed
from .translate import full_value

LOCAL_STORAGE = "local"

MAINSAIL: Final = ("mainsail", "presets.presets")
FLUIDD: Final = ("fluidd", "uiSettings.dashboard.tempPresets")
"""The namespace and the key of each."""


def make(setup: PrinterSetup) -> "MoonrakerPrinter":
    return MoonrakerPrinter(setup)


class MoonrakerPrinter(PausingPrinter[LiveView]):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._api = MoonrakerApi(setup)
        self._finder = CameraFinder(setup, self._api)
        live_view = LiveView(setup, self._api, self._finder)
        super().__init__(setup, live_view, MoonrakerPausePlan(self._api, live_view, setup.limits))
        self.files = MoonrakerFiles(self._api, setup.token_bytes)

    async def _close(self) -> None:
        await self.files.close()
        await self._api.close()

    async def cameras(self) -> list[Camera]:
        return await self._finder.cameras()

    async def presets(self) -> list[Preset]:
        """Return Mainsail's, and then Fluidd's. A page that isn't used keeps none."""
        machine = self._known.machine
        mainsails, fluidds = [await self._stored(*place) for place in (MAINSAIL, FLUIDD)]
        return [*presets_of_mainsail(mainsails, machine), *presets_of_fluidd(fluidds, machine)]

    async def _stored(self, namespace: str, key: str) -> object:
        """Return what the database holds; None where it is refused, as what isn't there."""
        try:
            place = {"namespace": namespace, "key": key}
            return await self._api.call("server.database.get_item", place)
        except PrinterRefused:
            if self._api.rpc is None:
                raise
            return None

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, LOCAL_STORAGE)
        place = place_of(order.path)
        try:
            await self._api.head(target_of(place))
        except NotFound:
            raise no_such_file(order.path) from None
        await self._api.order("printer.print.start", {"filename": place.inside})
        await self._live_view.refresh()
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

    async def home(self, order: Home) -> None:
        await self._api.run(gcode.home(order.homed))

    async def adjust(self, order: Adjust) -> None:
        await self._api.run(gcode.adjust(order, is_homed=is_homed(self._known)))

    async def emergency_stop(self) -> None:
        """Klipper takes it beside its G-code, whatever that waits for, and shuts down."""
        await self._api.order("printer.emergency_stop")

    async def restart_firmware(self) -> None:
        """Restart Klipper and its boards. It is gone meanwhile, and may not have answered then."""
        try:
            await self._api.order("printer.firmware_restart")
        except PrinterRefused as refused:
            if refused.status != CommandStatus.NOT_CONNECTED or self._api.rpc is None:
                raise

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
                raise not_supported(N_("This printer can't heat a bed."))
            targets[BED] = order.bed_c
        if not isinstance(order.chamber_c, UnsetType):
            if machine.chamber is None or not machine.has_chamber_heater:
                raise not_supported(N_("This printer can't heat its chamber."))
            targets[short_name(machine.chamber)] = order.chamber_c
        await self._api.run(gcode.set_targets(targets))

    async def make_api_key(self, app_name: str) -> str:  # noqa: ARG002  # there is one for all
        """Moonraker has one key. It is read, not made again: a new one would lock others out."""
        key = await self._api.query("/access/api_key")
        if not isinstance(key, str) or not key:
            raise failed(N_("Moonraker gave no key."))
        return key

    # --- helpers ----------------------------------------------------------------------------------

    @property
    def _known(self) -> KnownState:
        return self._live_view.known

    async def _move(self, script: str, undone_by: str = gcode.RESTORE) -> None:
        try:
            await self._api.run(script)
        except PrinterRefused:
            if self._live_view.view.trouble is None:
                await self._api.run(undone_by)
            raise

    def _heated_tool(self, order: SetTemp) -> str:
        if isinstance(order.tool_number, int):
            return self._extruder("ToolNumber", order.tool_number)
        extruder = active_extruder(self._known)
        if extruder is None:
            raise not_supported(N_("This printer can't heat a hotend."))
        return extruder

    def _extruder(self, argument: str, number: int) -> str:
        extruders = self._known.machine.extruders
        require_tool(argument, number, range(len(extruders)))
        return extruders[number]


def presets_of_mainsail(answer: object, machine: Machine) -> list[Preset]:
    """Read the database's answer: presets by their ids."""
    return _presets(loose.obj(answer, "value").values(), "bool", machine)


def presets_of_fluidd(answer: object, machine: Machine) -> list[Preset]:
    """Read the database's answer: a list."""
    return _presets(loose.items(answer, "value"), "active", machine)


def _presets(entries: Iterable[object], is_set: str, machine: Machine) -> list[Preset]:
    """is_set: the field that says whether a heater is part of the preset."""
    extruder = machine.extruders[0] if machine.extruders else None
    chamber = machine.chamber if machine.has_chamber_heater else None
    return [
        Preset(
            name=(loose.text(entry, "name") or "").strip(),
            tool_c=_target(loose.obj(entry, "values"), extruder, is_set),
            bed_c=_target(loose.obj(entry, "values"), BED, is_set),
            chamber_c=_target(loose.obj(entry, "values"), chamber, is_set),
        )
        for entry in entries
    ]


def _target(values: loose.Json, heater: str | None, is_set: str) -> float | UnsetType:
    if heater is None:
        return UNSET
    value = loose.obj(values, heater) or loose.obj(values, short_name(heater))
    return loose.known(loose.number(value, "value")) if loose.flag(value, is_set) else UNSET
