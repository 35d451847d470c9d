"""The adapter for the Centauri Carbon 2."""

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
from printreach.printers.port import Camera, MqttEndpoint, require_storage
from printreach.printers.setup import PrinterSetup, authority

from .api import USER, Cc2Api, Method
from .files import STORAGE, Cc2Files
from .translate import FULL_FAN, SPEED_LEVELS, KnownState, print_id_of, view_of, with_message

CAMERA_PORT = 8080
BRIGHTEST = 255
"""Guessed: its range is not known."""
PING_EVERY_S = 10.0
RESYNC_EVERY_S = 2.0
CHECK_EVERY_S = 0.5
ALL_EVERY_S = 60.0
"""Seconds between requests of the full status, in case a change was missed."""


_METHODS: Final[Mapping[Action, Method]] = {
    "pause": Method.PAUSE,
    "resume": Method.RESUME,
    "cancel": Method.STOP,
}


class Cc2LiveView(LiveView):
    def __init__(self, setup: PrinterSetup, api: Cc2Api) -> None:
        super().__init__(setup, api.connected)
        self.known = KnownState()
        self._api = api

    def _forget(self) -> None:
        self.known = KnownState()

    def _on_message(self, message: Json) -> None:
        before, self.known = self.known, with_message(self.known, message)
        if self.known is not before and self.known.status:
            self.print_id = print_id_of(self.known.status)
            self._show(view_of(self.known))

    async def _ask(self) -> None:
        """Ask for everything at first, again after missed messages, and send pings."""
        await self._api.send(Method.ATTRIBUTES, {})
        await self._api.send(Method.CANVAS, {})
        asked_at = pinged_at = None
        while True:
            now = self._now()
            needs_all = self.known.has_gap or not self.known.status
            due_s = RESYNC_EVERY_S if needs_all else ALL_EVERY_S
            if asked_at is None or now - asked_at >= due_s:
                await self._api.send(Method.STATUS, {})
                asked_at = now
            if pinged_at is None or now - pinged_at >= PING_EVERY_S:
                await self._api.ping()
                pinged_at = now
            await asyncio.sleep(CHECK_EVERY_S)


class Cc2Printer(ElegooPrinter[Cc2Files, Cc2LiveView]):
    """printers.port.Printer."""

    def __init__(self, setup: PrinterSetup) -> None:
        self._api = Cc2Api(setup)
        live_view = Cc2LiveView(setup, self._api)
        orders = Orders(
            print_id=lambda: live_view.print_id,
            act=lambda action: self._api.ask(_METHODS[action], {}),
            heat=self.set_temp,
            move=self.move_axis,
        )
        super().__init__(setup, live_view, orders, Cc2Files(self._api, setup))

    @property
    def mqtt(self) -> MqttEndpoint:
        return MqttEndpoint(
            host=self._host, port=self._api.port, tls=False, user=USER, password=self._api.code
        )

    async def cameras(self) -> list[Camera]:
        if not self._live_view.known.status:
            return []
        usual = f"http://{authority(self._host, CAMERA_PORT)}/?action=stream"
        return [SwitchedCamera(self._host, self._camera_hosts, usual, self._turn_camera_on)]

    # --- orders -----------------------------------------------------------------------------------

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, STORAGE)
        file = await self.files.find(order.path)
        config: JsonObject = {
            "delay_video": order.timelapse is True,
            "printer_check": order.bed_leveling is True,
            "print_layout": "A",
            "bedlevel_force": False,
            "slot_map": [],
        }
        reported = await self._api.ask(
            Method.START,
            {"storage_media": STORAGE, "filename": file.inside, "config": config},
        )
        return FileDone(
            virtual_path=order.path,
            platform_path=file.inside,
            printer_response=loose.plain(reported),
        )

    async def set_light(self, order: SetLight) -> None:
        params: JsonObject = {"power": int(order.on), "brightness": BRIGHTEST if order.on else 0}
        await self._api.ask(Method.LED, params)

    async def move_axis(self, order: MoveAxis) -> None:
        params: JsonObject = {"axes": order.axis.value.lower(), "distance": order.distance_mm}
        await self._api.ask(Method.MOVE, params)

    async def home(self, order: Home) -> None:
        await self._api.ask(Method.HOME, {"homed_axes": "".join(order.homed).lower()})

    async def adjust(self, order: Adjust) -> None:
        """Set the part cooling fan and the level of speed."""
        if not isinstance(order.fan_percent, UnsetType):
            speed = round(order.fan_percent * FULL_FAN / 100)
            await self._api.ask(Method.FANS, {"fan": speed})
        if not isinstance(order.speed_level, UnsetType):
            await self._api.ask(Method.SPEED, {"mode": SPEED_LEVELS.index(order.speed_level)})

    async def set_temp(self, order: SetTemp) -> None:
        targets = targets_of(order, hotend="extruder", bed="heater_bed")
        await self._api.ask(Method.TEMPS, targets)

    # --- camera -----------------------------------------------------------------------------------

    async def _turn_camera_on(self) -> str | None:
        return loose.text(await self._api.ask(Method.CAMERA, {"enable": 1}), "url")
