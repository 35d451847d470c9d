"""The adapter for the simulated printer: over its web server, like any other printer.

Every failure is a PrinterRefused; paths are below the folder of G-code files.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from printreach.contract.commands import (
    Adjust,
    Extrude,
    Home,
    MoveAxis,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.status import WebcamEntry
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers.http_api import NotFound, as_no_such_file
from printreach.printers.http_camera import HttpCamera
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import (
    Camera,
    Download,
    no_such_file,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup
from printreach.printers.thumbnails import read_thumbnail

from .api import Api, SimulatedView, target_of
from .pause_plan import SimulatedPausePlan
from .translate import details_of

STORAGE = "local"
_GCODE = (FileRoot.GCODE,)
_TOOLS = (0,)


def make(setup: PrinterSetup) -> "SimulatedAdapter":
    return SimulatedAdapter(setup)


class SimulatedAdapter(PausingPrinter[SimulatedView]):
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._api = Api(setup)
        self.files = SimulatedFiles(self._api)
        live_view = SimulatedView(setup, self._api)
        super().__init__(setup, live_view, SimulatedPausePlan(self._api, live_view, setup.limits))
        base = f"{'https' if setup.tls else 'http'}://{setup.authority}"
        self._camera = HttpCamera(
            WebcamEntry(name="Printer"),
            snapshot_url=f"{base}/webcam/?action=snapshot",
            stream_url=f"{base}/webcam/?action=stream",
            hosts=setup.camera_hosts,
        )

    async def _close(self) -> None:
        await self._api.close()

    async def cameras(self) -> list[Camera]:
        return [self._camera]

    # --- orders -----------------------------------------------------------------------------------

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


class SimulatedFiles:
    """printers.port.Files: G-code alone."""

    roots = _GCODE

    def __init__(self, api: Api) -> None:
        self._api = api

    async def entries(self, root: FileRoot) -> list[FileEntry]:  # noqa: ARG002  # there is one
        return await self._api.files()

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
