"""The adapter for the simulated printer: over its web server, like any other printer.

Every failure is a PrinterRefused; paths are below the folder of G-code files.
"""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final
from urllib.parse import quote

from printreach.contract.commands import (
    Adjust,
    CommandStatus,
    Extrude,
    Home,
    MoveAxis,
    Pause,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.status import State, WebcamEntry
from printreach.contract.unset import UNSET, UnsetType
from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.connecting import unreachable
from printreach.printers.following import LiveView
from printreach.printers.http_api import HttpApi, NotFound, as_no_such_file
from printreach.printers.http_camera import HttpCamera
from printreach.printers.port import (
    Camera,
    Download,
    PrinterRefused,
    View,
    no_such_file,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup
from printreach.printers.thumbnails import read_thumbnail
from printreach.printers.websocket import WebSocketFailed, websocket
from printreach.wire.heads import Headers

from .translate import details_of, entries_of, view_of

VERSION = "Simulated printer"
STORAGE = "local"
_GCODE = (FileRoot.GCODE,)
_TOOLS = (0,)
log = logging.getLogger(__name__)

SILENCE_S: Final = 30.0
"""The printer answers a ping within this time, or is lost."""
_G_CODE: Final[Headers] = [(b"Content-Type", b"text/x.gcode")]


class Api(HttpApi):
    def __init__(self, setup: PrinterSetup) -> None:
        super().__init__(setup, N_("The printer at %(host)s"))
        self._push_url = f"ws://{setup.authority}/ws"

    def words_of(self, answer: FetchedAnswer) -> str:
        return loose.text(loose.parsed(answer.body), "Error") or ""

    async def statuses(self) -> AsyncIterator[object]:
        """Yield the status now, and each time it changes. Raises PrinterRefused when that ends."""
        try:
            async with websocket(self.connect, self._push_url) as socket:
                while True:
                    message = loose.parsed(await socket.receive(SILENCE_S))
                    yield loose.obj(message, "Status")
        except WebSocketFailed as exc:
            raise unreachable(self.where, exc.text) from exc

    async def order(self, name: str, **arguments: Any) -> None:
        await self.post(f"/api/{name}", arguments)

    async def files(self) -> list[Any]:
        return loose.items(await self.get("/api/files"), "Files")

    async def save(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> int:
        """Return how many bytes arrived."""
        answer = await self.upload("PUT", target_of(path), _G_CODE, size, chunks)
        return loose.size(loose.parsed(answer.body), "SizeBytes") or 0


def target_of(path: str) -> str:
    return f"/api/files/{quote(path, safe='/')}"


def make(setup: PrinterSetup) -> "SimulatedAdapter":
    return SimulatedAdapter(setup)


class SimulatedAdapter:
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._api = Api(setup)
        self.files = SimulatedFiles(self._api)
        self.restores = PrinterRestore(self._api)
        self._live_view = SimulatedView(setup, self._api, self.restores)
        base = f"{'https' if setup.tls else 'http'}://{setup.authority}"
        self._camera = HttpCamera(
            WebcamEntry(name="Printer"),
            snapshot_url=f"{base}/webcam/?action=snapshot",
            stream_url=f"{base}/webcam/?action=stream",
            hosts=setup.camera_hosts,
        )

    @property
    def view(self) -> View:
        return self._live_view.view

    def on_change(self, callback: Callable[[], None]) -> None:
        self._live_view.changes.add(callback)

    async def run(self) -> None:
        try:
            await self._live_view.run()
        finally:
            await self._api.close()

    async def cameras(self) -> list[Camera]:
        return [self._camera]

    # --- orders -----------------------------------------------------------------------------------

    async def pause(self, order: Pause) -> None:
        """Pause. The printer itself undoes on resume what a smart pause has changed."""
        changes: dict[str, object] = {}
        if order.smart_pause:
            changes = {
                "HotendOff": order.disable_hotend,
                "BedOff": order.disable_bed,
                "LiftMm": order.z_lift_mm,
                "RetractMm": order.retract_filament_mm,
            }
        await self._api.order("print", Action="pause", **changes)

    async def resume(self) -> None:
        await self.restores.resume()

    async def cancel(self) -> None:
        await self._api.order("print", Action="cancel")

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, STORAGE)
        done = _done(order.path)
        try:
            await self._api.order("print", Action="start", Path=done.platform_path)
        except NotFound:
            raise no_such_file(order.path) from None
        return done

    async def set_light(self, order: SetLight) -> None:
        await self._api.order("light", On=order.on)

    async def move_axis(self, order: MoveAxis) -> None:
        await self._api.order("move", Axis=order.axis.value, DistanceMm=order.distance_mm)

    async def home(self, order: Home) -> None:
        await self._api.order("home", Axes=[axis.value for axis in order.homed])

    async def adjust(self, order: Adjust) -> None:
        await self._api.order(
            "adjust",
            **_given(
                SpeedPercent=order.speed_percent,
                FlowPercent=order.flow_percent,
                FanPercent=order.fan_percent,
                ZOffsetByMm=order.z_offset_by_mm,
            ),
        )

    async def emergency_stop(self) -> None:
        await self._api.order("halt")

    async def restart_firmware(self) -> None:
        await self._api.order("restart")

    async def extrude(self, order: Extrude) -> None:
        require_tool("Extruder", order.extruder, _TOOLS)
        await self._api.order("extrude", DistanceMm=order.distance_mm)

    async def set_temp(self, order: SetTemp) -> None:
        require_tools_of(order, _TOOLS)
        targets = _given(BedC=order.bed_c, ChamberC=order.chamber_c, ToolC=order.tool_c)
        await self._api.order("temperature", **targets)


class SimulatedView(LiveView):
    def __init__(self, setup: PrinterSetup, api: Api, restores: "PrinterRestore") -> None:
        super().__init__(setup.uniform)
        self._api = api
        self._restores = restores

    async def _follow(self) -> None:
        async for status in self._api.statuses():
            self._show(view_of(status, VERSION))
            await self._restores.on_state(self.view.job.state)


class SimulatedFiles:
    """printers.port.Files: G-code alone."""

    roots = _GCODE

    def __init__(self, api: Api) -> None:
        self._api = api

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        return entries_of(await self._api.files(), root.value)

    async def details(self, path: str) -> FileDetails:
        entry = _find(await self.entries(FileRoot.GCODE), path)
        if entry is None:
            raise no_such_file(path)
        return details_of(entry)

    def open(self, path: str) -> AbstractAsyncContextManager[Download]:
        return self._api.download(target_of(_inside(path)), path)

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        return await read_thumbnail(self.open(path), size_px)

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        return _done(path, await self._api.save(_inside(path), size, chunks))

    async def delete(self, path: str) -> FileDone:
        with as_no_such_file(path):
            await self._api.delete(target_of(_inside(path)))
        return _done(path)


def _given(**arguments: float | UnsetType) -> dict[str, float]:
    return {name: value for name, value in arguments.items() if not isinstance(value, UnsetType)}


def _inside(path: str) -> str:
    return path.partition("/")[2]


def _done(path: str, size_bytes: int | UnsetType = UNSET) -> FileDone:
    return FileDone(virtual_path=path, platform_path=_inside(path), size_bytes=size_bytes)


def _find(entries: list[FileEntry], path: str) -> FileEntry | None:
    """Return the file of a path, in whichever folder."""
    for entry in entries:
        if entry.virtual_path == path and entry.type is EntryType.FILE:
            return entry
        if entry.children and (file := _find(entry.children, path)):
            return file
    return None


class PrinterRestore:
    """printers.port.Restores. Ends the restore of a resume that was ordered remotely.

    The printer then stays paused, with its heaters as they are. It can't wait, so what is to be
    held is ended, too. A resume that was ordered at the printer itself is left alone; one that the
    agent finds when it starts may be a remote one.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._may_be_remote = True
        self._is_held = False

    async def resume(self) -> None:
        try:
            await self._api.order("print", Action="resume")
        finally:
            self._may_be_remote = True

    async def on_state(self, state: State) -> None:
        """The printer has told its state."""
        if state not in {State.PAUSED, State.RESUMING}:
            self._may_be_remote = False
        if state is State.RESUMING and self._is_held:
            await self.lock()

    async def lock(self) -> None:
        if not self._may_be_remote:
            return
        self._may_be_remote = False
        try:
            await self._api.order("print", Action="end-restore")
        except PrinterRefused as refused:
            if refused.status != CommandStatus.EXECUTION_FAILED:  # else nothing is being restored
                self._may_be_remote = True
                log.warning("the printer's restore could not be ended: %s", refused.sentence)
        else:
            log.warning("remote control was locked, or may be: the print stays paused")

    def hold(self, *, is_held: bool) -> None:
        self._is_held = is_held
