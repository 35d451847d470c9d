"""The adapter for SDCP printers. Files are listed and deleted by WebSocket, and moved over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import quote

from printreach.contract.commands import Adjust, Home, MoveAxis, SetLight, SetTemp, StartPrint
from printreach.contract.files import FileDone, JsonObject
from printreach.contract.unset import UnsetType
from printreach.languages import N_, in_english
from printreach.printers import loose
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
from printreach.printers.port import (
    Camera,
    Download,
    PrinterRefused,
    bad_path,
    failed,
    require_storage,
)
from printreach.printers.setup import PrinterSetup, authority
from printreach.printers.uploads import form_around_file, form_type

from .api import USUAL_PORT, Cmd, SdcpApi
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

STORAGE = "/local"
UPLOAD = "/uploadFile/upload"
TAKEN = "000000"
_FOLDER = 0


class SdcpFiles(ElegooFiles):
    def __init__(self, api: SdcpApi, setup: PrinterSetup) -> None:
        self._api = api
        self._setup = setup
        # Uploads go to the WebSocket's port, as SDCP's document has it; downloads to the port of
        # the printer's page, as its maker's own programs do it.
        self._uploads = PrinterWeb(setup, setup.ports.get("uploads", USUAL_PORT))
        self._downloads = PrinterWeb(setup, setup.port)

    async def close(self) -> None:
        await self._uploads.close()
        await self._downloads.close()

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        await self.find(path)
        target = f"/downloadFile{STORAGE}/{quote(inside(path))}"
        async with self._downloads.download(target, path) as download:
            yield download

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        name = plain_name(path)
        if '"' in name:
            raise bad_path(N_("This printer takes no file with a quotation mark in its name."))
        async with buffered(chunks, size, self._setup.data_dir) as file:
            upload_id = self._setup.token_bytes(16).hex()
            try:
                await self._send(file, name, upload_id)
            except BaseException:
                await self._drop(name, upload_id)
                raise
        return FileDone(virtual_path=path, platform_path=f"{STORAGE}/{name}", size_bytes=file.size)

    async def _delete(self, platform_path: str) -> Json:
        # FolderList: as SDCP's document has it.
        return await self._api.ask(Cmd.DELETE, {"FileList": [platform_path], "FolderList": []})

    async def _list(self, folder: str) -> list[ListedEntry]:
        return listed(await self._api.ask(Cmd.LIST, {"Url": f"{STORAGE}/{folder}".rstrip("/")}))

    async def _send(self, file: BufferedFile, name: str, upload_id: str) -> None:
        boundary = f"printreach-{upload_id}"
        headers = [(b"Content-Type", form_type(boundary))]
        async for offset, piece in file.pieces:
            fields = {
                "Check": "1",
                "S-File-MD5": file.md5,
                "Offset": str(offset),
                "Uuid": upload_id,
                "TotalSize": str(file.size),
            }
            # The name is plain UTF-8, as the maker's own programs write it.
            before, after = form_around_file(fields, "File", name, boundary, is_plain=True)
            body = before + piece + after
            reported = await self._uploads.send("POST", UPLOAD, headers, body)
            if loose.text(reported, "code") != TAKEN:
                raise failed(_sentence(reported))

    async def _drop(self, name: str, upload_id: str) -> None:
        """Drop an upload; of no effect where the printer itself forgets an unfinished one."""
        with suppress(PrinterRefused):
            await self._api.send(Cmd.END_TRANSFER, {"Uuid": upload_id, "FileName": name})


def listed(answer: Json) -> list[ListedEntry]:
    """Names are paths that begin with the storage; a bare name counts as one in it. Pure.

    FileSize is what Centauri Carbons tell, usedSize what the protocol's document names.
    """
    entries = {}
    for entry in map(loose.obj, loose.items(answer, "FileList")):
        path = (loose.text(entry, "name") or "").removeprefix(STORAGE).strip("/")
        size = loose.size(entry, "FileSize")
        if path and ".." not in path.split("/"):
            entries[path] = ListedEntry(
                inside=path,
                platform_path=f"{STORAGE}/{path}",
                is_folder=loose.whole(entry, "type") == _FOLDER,
                reported=entry,
                size=loose.size(entry, "usedSize") if size is None else size,
                made_at=loose.size(entry, "CreateTime"),
                layers=loose.count(entry, "TotalLayers"),
            )
    return list(entries.values())


def _sentence(reported: object) -> str:
    """Explain the printer's error number: -1 and -2 are a wrong offset, -3 its storage."""
    for message in loose.items(reported, "messages"):
        number = loose.whole(message, "message")
        if number is not None:
            return in_english("The printer refused the upload: error %(number)s.", number=number)
    return N_("The printer refused the upload.")


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
