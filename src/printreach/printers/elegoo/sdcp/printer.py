"""The adapter for SDCP printers."""

import asyncio

from printreach.contract.commands import MoveAxis, SetLight, SetTemp, StartPrint
from printreach.contract.files import FileDone, JsonObject
from printreach.printers import loose
from printreach.printers.elegoo.camera import SwitchedCamera, authority
from printreach.printers.elegoo.pause_plan import Orders
from printreach.printers.elegoo.ports import Ports
from printreach.printers.elegoo.printer import ElegooPrinter, targets_of
from printreach.printers.loose import Json
from printreach.printers.port import Camera, require_storage
from printreach.printers.setup import PrinterSetup

from .api import Cmd, SdcpApi
from .entries import STORAGE
from .files import SdcpFiles
from .translate import KnownState, print_id_of, view_of, with_message

STORAGE_NAME = "local"
CAMERA_PORT = 3031
ASK_EVERY_S = 0.9
"""Seconds between requests of unpushed values, which also keep the connection open."""


class SdcpPrinter(ElegooPrinter[SdcpFiles]):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup, ports: Ports) -> None:
        self._api = SdcpApi(setup, ports)
        self._known = KnownState()
        self._known_at = 0.0
        orders = Orders(
            pause=lambda: self._api.ask(Cmd.PAUSE, {}),
            resume=lambda: self._api.ask(Cmd.CONTINUE, {}),
            stop=lambda: self._api.ask(Cmd.STOP, {}),
            heat=self.set_temp,
            move=self.move_axis,
        )
        super().__init__(setup, self._api.connected, orders, SdcpFiles(self._api, setup, ports))

    async def cameras(self) -> list[Camera]:
        if not self._known.has_camera:
            return []
        usual = f"http://{authority(self._host, CAMERA_PORT)}/video"
        return [SwitchedCamera(self._host, self._camera_hosts, usual, self._turn_camera_on)]

    # --- what it does -----------------------------------------------------------------------------

    def _forget(self) -> None:
        self._known = KnownState()

    def _on_message(self, message: Json) -> None:
        known = with_message(self._known, message)
        if known.status is not self._known.status:
            self._known_at = self._now()
        self._known = known
        if known.status:
            self._live_view.tell(view_of(known), print_id_of(known.status))

    async def _ask(self) -> None:
        await self._api.send(Cmd.ATTRIBUTES, {})
        while True:
            if not self._known.status or self._now() - self._known_at >= ASK_EVERY_S:
                await self._api.send(Cmd.STATUS, {})
            await asyncio.sleep(ASK_EVERY_S)

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, STORAGE_NAME)
        file = await self.files.find(order.path)
        platform_path = f"{STORAGE}/{file.inside}"
        data: JsonObject = {"Filename": platform_path, "StartLayer": 0}
        if self._known.is_fdm:
            # As the Centauri Carbon's own page sends it.
            data["Calibration_switch"] = int(order.bed_leveling is True)
            data["PrintPlatformType"] = 0
            data["Tlp_Switch"] = int(order.timelapse is True)
        reported = await self._api.ask(Cmd.START, data)
        return FileDone(
            virtual_path=order.path,
            platform_path=platform_path,
            printer_response=loose.plain(reported),
        )

    async def set_light(self, order: SetLight) -> None:
        """Switch the light.

        The coloured light's present value is sent along in the same command.
        """
        rgb = loose.items(loose.obj(self._known.status, "LightStatus"), "RgbLight")
        colours = [value for value in rgb if isinstance(value, int)]
        light: JsonObject = {
            "SecondLight": order.on,
            "RgbLight": [*colours] if len(colours) == 3 else [0, 0, 0],
        }
        await self._api.ask(Cmd.SET, {"LightStatus": light})
        await self._api.send(Cmd.STATUS, {})

    async def home(self) -> None:
        await self._api.ask(Cmd.HOME, {"Axis": "XYZ"})

    async def set_temp(self, order: SetTemp) -> None:
        """Set targets, by the names under which they are reported (a guess, undocumented)."""
        targets = targets_of(order, hotend="TempTargetNozzle", bed="TempTargetHotbed")
        await self._api.ask(Cmd.SET, targets)

    async def move_axis(self, order: MoveAxis) -> None:
        """Move an axis as the Centauri Carbon's own page does (EDIT_PRINTER_AXIS_NUMBER)."""
        move: JsonObject = {"Axis": order.axis.value, "Step": order.distance_mm}
        await self._api.ask(Cmd.MOVE, move)

    # --- camera -----------------------------------------------------------------------------------

    async def _turn_camera_on(self) -> str | None:
        return loose.text(await self._api.ask(Cmd.VIDEO, {"Enable": 1}), "VideoUrl")
