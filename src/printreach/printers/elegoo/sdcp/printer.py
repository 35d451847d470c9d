"""The adapter for SDCP printers."""

import asyncio
from collections.abc import Mapping
from typing import Final

from printreach.contract.commands import Adjust, Home, MoveAxis, SetLight, SetTemp, StartPrint
from printreach.contract.files import FileDone, JsonObject
from printreach.contract.unset import UnsetType
from printreach.printers import loose
from printreach.printers.elegoo.camera import SwitchedCamera
from printreach.printers.elegoo.pause_plan import Orders
from printreach.printers.elegoo.printer import ElegooPrinter, LiveView, targets_of
from printreach.printers.loose import Json
from printreach.printers.pause_plan import Action
from printreach.printers.port import Camera, require_storage
from printreach.printers.setup import PrinterSetup, authority

from .api import Cmd, SdcpApi
from .files import SdcpFiles
from .translate import SPEED_LEVELS, KnownState, print_id_of, view_of, with_message

STORAGE_NAME = "local"
CAMERA_PORT = 3031
ASK_EVERY_S = 0.9
"""Seconds between requests of unpushed values, which also keep the connection open."""


_COMMANDS: Final[Mapping[Action, Cmd]] = {
    "pause": Cmd.PAUSE,
    "resume": Cmd.CONTINUE,
    "cancel": Cmd.STOP,
}


class SdcpLiveView(LiveView):
    def __init__(self, setup: PrinterSetup, api: SdcpApi) -> None:
        super().__init__(setup, api.connected)
        self.known = KnownState()
        self._known_at = 0.0
        self._api = api

    def _forget(self) -> None:
        self.known = KnownState()

    def _on_message(self, message: Json) -> None:
        before, self.known = self.known, with_message(self.known, message)
        if self.known.status is not before.status:
            self._known_at = self._now()
        if self.known.status:
            self.print_id = print_id_of(self.known.status)
            self._show(view_of(self.known))

    async def _ask(self) -> None:
        await self._api.send(Cmd.ATTRIBUTES, {})
        while True:
            if not self.known.status or self._now() - self._known_at >= ASK_EVERY_S:
                await self._api.send(Cmd.STATUS, {})
            await asyncio.sleep(ASK_EVERY_S)


class SdcpPrinter(ElegooPrinter[SdcpFiles, SdcpLiveView]):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._api = SdcpApi(setup)
        live_view = SdcpLiveView(setup, self._api)
        orders = Orders(
            print_id=lambda: live_view.print_id,
            act=lambda action: self._api.ask(_COMMANDS[action], {}),
            heat=self.set_temp,
            move=self.move_axis,
        )
        super().__init__(setup, live_view, orders, SdcpFiles(self._api, setup))

    async def cameras(self) -> list[Camera]:
        if not self._live_view.known.has_camera:
            return []
        usual = f"http://{authority(self._host, CAMERA_PORT)}/video"
        return [SwitchedCamera(self._host, self._camera_hosts, usual, self._turn_camera_on)]

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, STORAGE_NAME)
        file = await self.files.find(order.path)
        data: JsonObject = {"Filename": file.platform_path, "StartLayer": 0}
        if self._live_view.known.is_fdm:
            # As the Centauri Carbon's own page sends it.
            data["Calibration_switch"] = int(order.bed_leveling is True)
            data["PrintPlatformType"] = 0
            data["Tlp_Switch"] = int(order.timelapse is True)
        reported = await self._api.ask(Cmd.START, data)
        return FileDone(
            virtual_path=order.path,
            platform_path=file.platform_path,
            printer_response=loose.plain(reported),
        )

    async def set_light(self, order: SetLight) -> None:
        """Switch the light.

        The coloured light's present value is sent along in the same command.
        """
        rgb = loose.items(loose.obj(self._live_view.known.status, "LightStatus"), "RgbLight")
        colours = [value for value in rgb if isinstance(value, int)]
        light: JsonObject = {
            "SecondLight": order.on,
            "RgbLight": [*colours] if len(colours) == 3 else [0, 0, 0],
        }
        await self._api.ask(Cmd.SET, {"LightStatus": light})
        await self._api.send(Cmd.STATUS, {})

    async def home(self, order: Home) -> None:
        await self._api.ask(Cmd.HOME, {"Axis": "".join(order.homed)})

    async def set_temp(self, order: SetTemp) -> None:
        """Set targets, by the names under which they are reported (a guess, undocumented)."""
        targets = targets_of(order, hotend="TempTargetNozzle", bed="TempTargetHotbed")
        await self._api.ask(Cmd.SET, targets)

    async def adjust(self, order: Adjust) -> None:
        """Set the part cooling fan and the level of speed, as the printer's own page does.

        Source: Centauri Carbon, CHANGE_PRINT_PARAMS as others have recorded it.
        """
        changes: JsonObject = {}
        if not isinstance(order.fan_percent, UnsetType):
            changes["TargetFanSpeed"] = {"ModelFan": order.fan_percent}
        if not isinstance(order.speed_level, UnsetType):
            changes["PrintSpeedPct"] = SPEED_LEVELS[order.speed_level]
        await self._ask_each(changes)

    async def _ask_each(self, changes: JsonObject) -> None:
        """The printer looks at one of them alone."""
        for name, value in changes.items():
            await self._api.ask(Cmd.SET, {name: value})

    async def move_axis(self, order: MoveAxis) -> None:
        """Move an axis as the Centauri Carbon's own page does (EDIT_PRINTER_AXIS_NUMBER)."""
        move: JsonObject = {"Axis": order.axis.value, "Step": order.distance_mm}
        await self._api.ask(Cmd.MOVE, move)

    # --- camera -----------------------------------------------------------------------------------

    async def _turn_camera_on(self) -> str | None:
        return loose.text(await self._api.ask(Cmd.VIDEO, {"Enable": 1}), "VideoUrl")
