"""The adapter for the Centauri Carbon 2.

Its broker lists and deletes files, and its web server moves them.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote

from printreach.contract.commands import Adjust, Home, MoveAxis, SetLight, SetTemp, StartPrint
from printreach.contract.files import FileDone, JsonObject
from printreach.contract.unset import UnsetType
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import not_authorized
from printreach.printers.elegoo.files import (
    BufferedFile,
    ElegooFiles,
    ListedEntry,
    PrinterWeb,
    buffered,
    inside,
    plain_name,
)
from printreach.printers.elegoo.pause_plan import Orders
from printreach.printers.elegoo.printer import ElegooPrinter, LiveView, SwitchedCamera, targets_of
from printreach.printers.loose import Json
from printreach.printers.pause_plan import Action
from printreach.printers.port import Camera, Download, MqttEndpoint, failed, require_storage
from printreach.printers.setup import PrinterSetup, authority

from .api import BAD_TOKEN, USER, Cc2Api, Method
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

STORAGE = "local"
PAGE = 100
MAX_PAGES = 100


class Cc2Files(ElegooFiles):
    def __init__(self, api: Cc2Api, setup: PrinterSetup) -> None:
        self._api = api
        self._folder = setup.data_dir
        self._web = PrinterWeb(setup, setup.port)

    async def close(self) -> None:
        await self._web.close()

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        """Open a download. The access code is part of the URL, which is shown to no one else."""
        await self.find(path)
        name, token = quote(inside(path), safe=""), quote(self._api.code, safe="")
        target = f"/download?X-Token={token}&file_name={name}"
        async with self._web.download(target, path) as download:
            yield download

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        name = plain_name(path)
        async with buffered(chunks, size, self._folder) as file:
            await self._send(file, name)
        return FileDone(virtual_path=path, platform_path=name, size_bytes=file.size)

    async def _delete(self, platform_path: str) -> Json:
        order: JsonObject = {"storage_media": STORAGE, "file_path": [platform_path]}
        return await self._api.ask(Method.DELETE, order)

    async def _list(self, folder: str) -> list[ListedEntry]:
        """Page by page, to the one that brings nothing new."""
        entries: dict[str, ListedEntry] = {}
        for page in range(MAX_PAGES):
            wanted: JsonObject = {"path": f"/{folder}", "offset": page * PAGE, "limit": PAGE}
            answer = await self._api.ask(Method.LIST, {"storage_media": STORAGE, **wanted})
            files, before = listed(answer, folder), len(entries)
            entries.update({file.inside: file for file in files})
            if len(files) < PAGE or len(entries) == before:
                break
        return list(entries.values())

    async def _send(self, file: BufferedFile, name: str) -> None:
        """Send the file. The printer itself drops an upload that is not finished."""
        async for offset, piece in file.pieces:
            span = f"bytes {offset}-{offset + len(piece) - 1}/{file.size}"
            headers = [
                (b"Content-Type", b"application/octet-stream"),
                (b"Content-Range", span.encode()),
                (b"X-File-Name", name.encode()),  # in plain UTF-8, as the vendor's SDK sends it
                (b"X-File-MD5", file.md5.encode()),
                (b"X-Token", self._api.code.encode()),
            ]
            reported = await self._web.send("PUT", "/upload", headers, piece)
            error = loose.whole(reported, "error_code")
            if error == BAD_TOKEN:
                raise not_authorized(
                    in_english("%(where)s refuses the access code.", where=self._api.where)
                )
            if error != 0:
                raise failed(
                    N_("The printer refused the upload.")
                    if error is None
                    else in_english(
                        "The printer refused the upload: error %(number)s.", number=error
                    )
                )


def listed(answer: Json, folder: str) -> list[ListedEntry]:
    """folder: below the storage, "" for the storage itself. Pure."""
    entries = {}
    for entry in map(loose.obj, loose.items(answer, "file_list")):
        name = (loose.text(entry, "filename") or "").strip("/").rpartition("/")[2]
        if name and name not in (".", ".."):
            path = f"{folder}/{name}" if folder else name
            entries[path] = ListedEntry(
                inside=path,
                platform_path=path,
                is_folder=loose.text(entry, "type") in ("dir", "folder"),
                reported=entry,
                size=loose.size(entry, "size"),
                made_at=loose.size(entry, "create_time"),
                layers=loose.count(entry, "layer"),
                print_time_s=loose.count(entry, "print_time"),
            )
    return list(entries.values())


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
