"""The PrusaLink adapter: a live view, commands over its web API, and cameras.

A camera has the last photograph, taken every few seconds, and no stream. Buddy's firmware serves
none: its cameras send theirs to Prusa's own service.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from urllib.parse import quote

from printreach.contract.commands import (
    Adjust,
    Extrude,
    Home,
    MoveAxis,
    Pause,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDone, JsonObject, JsonValue
from printreach.contract.status import WebcamEntry
from printreach.contract.unset import UnsetType
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.http_api import Conflict, NotFound
from printreach.printers.port import (
    Camera,
    View,
    failed,
    no_picture,
    no_such_file,
    not_supported,
    require_storage,
    require_tool,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup

from .api import PrusaLinkApi
from .files import PrusaLinkFiles
from .live_view import LiveView
from .translate import Machine

CLEARED_S = 15.0
"""PrusaLink on a Raspberry Pi starts no print in the eleven seconds after the end of another."""
HEAD, TOOL, BED = (f"/api/printer/{part}" for part in ("printhead", "tool", "bed"))
XY_MM_PER_MIN = 2700
Z_MM_PER_MIN = 600
"""Within the limits of `const.py` of 0.8.1, and slow enough for a Z axis on threaded rods."""
_TOOLS = (0,)
_AT_REST = frozenset({"IDLE", "READY"})

POLL_S = 1.0
MAX_CAMERAS = 16
JPEG_MAGIC = b"\xff\xd8"


def make(setup: PrinterSetup) -> "PrusaLinkPrinter":
    return PrusaLinkPrinter(setup)


class PrusaLinkPrinter:
    """printers.port.Printer."""

    mqtt = None

    def __init__(self, setup: PrinterSetup) -> None:
        self._base_url = f"{'https' if setup.tls else 'http'}://{setup.authority}"
        self._api = PrusaLinkApi(setup)
        self._live_view = LiveView(self._api, setup.uniform, setup.steady_time)
        self.files = PrusaLinkFiles(self._api, setup.data_dir, lambda: self._machine)

    @property
    def view(self) -> View:
        return self._live_view.view

    def on_change(self, callback: Callable[[], None]) -> None:
        self._live_view.changes.add(callback)

    @property
    def _machine(self) -> Machine:
        return self._live_view.machine

    async def run(self) -> None:
        try:
            await self._live_view.run()
        finally:
            await self._api.close()

    async def cameras(self) -> list[Camera]:
        return await cameras_of(self._api, self._base_url)

    # --- prints -----------------------------------------------------------------------------------

    async def pause(self, order: Pause) -> None:  # noqa: ARG002  # a smart pause is a plain one
        """Pause. The firmware lifts and parks by itself.

        Its heaters stay on: nothing can wait for heat before a print goes on.
        """
        await self._api.put(f"{await self._job()}/pause")

    async def resume(self) -> None:
        try:
            await self._api.put(f"{await self._job()}/resume")
        except Conflict:
            if self._live_view.known.waits_for_person:
                raise failed(
                    N_(
                        "The print waits for a person: what it asks is answered at the printer's"
                        " display, and it goes on from there."
                    )
                ) from None
            raise

    async def cancel(self) -> None:
        try:
            await self._api.delete(await self._job())
        except Conflict:
            if not self._live_view.known.waits_for_person:
                raise
            # 0.8.1 deletes no job then, and cancels it all the same where it is asked the old way.
            await self._api.post("/api/job", {"command": "cancel"})

    async def start(self, order: StartPrint) -> FileDone:
        require_storage(order, self._machine.storage)
        inside = order.path.partition("/")[2]
        try:
            await self._once_cleared(self.files.target(inside))
        except NotFound:
            raise no_such_file(order.path) from None
        return FileDone(virtual_path=order.path, platform_path=inside)

    async def _once_cleared(self, target: str, body: JsonObject | None = None) -> None:
        """Order something, again if the print before was in its way."""
        try:
            await self._api.post(target, body)
        except Conflict:
            has_ended = self._live_view.known.word in ("FINISHED", "STOPPED", "BUSY")
            if not has_ended or not await self._live_view.wait_until(self._is_at_rest, CLEARED_S):
                raise
            await self._api.post(target, body)

    def _is_at_rest(self) -> bool:
        return self._live_view.known.word in _AT_REST

    async def _job(self) -> str:
        """Return the address of the print under way."""
        job_id = self._live_view.known.job_id
        if job_id is None:
            job_id = loose.count(await self._api.get("/api/v1/job"), "id")
        if job_id is None:
            raise failed(N_("PrusaLink knows of no print that is under way."))
        return f"/api/v1/job/{job_id}"

    # --- axes and heaters -------------------------------------------------------------------------

    async def set_light(self, order: SetLight) -> None:  # noqa: ARG002  # there is none
        raise not_supported(N_("This printer can't switch a light."))

    async def move_axis(self, order: MoveAxis) -> None:
        """Move relatively.

        Relative mode would stay in force for the lines that follow, so the axes are set back to
        absolute: it is not known which mode the next print expects, but all prints begin with it.
        """
        axis = order.axis.value.lower()
        feedrate = Z_MM_PER_MIN if axis == "z" else XY_MM_PER_MIN
        await self._head({"command": "jog", axis: order.distance_mm, "feedrate": feedrate})
        await self._head({"command": "jog", "absolute": True, "feedrate": feedrate})

    async def home(self, order: Home) -> None:
        axes: list[JsonValue] = [axis.value.lower() for axis in order.homed]
        await self._once_cleared(HEAD, {"command": "home", "axes": axes})

    async def adjust(self, order: Adjust) -> None:
        if not isinstance(order.speed_percent, UnsetType):
            await self._head({"command": "feedrate", "factor": order.speed_percent})
        if not isinstance(order.flow_percent, UnsetType):
            await self._api.post(TOOL, {"command": "flowrate", "factor": order.flow_percent})

    async def extrude(self, order: Extrude) -> None:
        require_tool("Extruder", order.extruder, _TOOLS)
        await self._api.post(TOOL, {"command": "extrude", "amount": order.distance_mm})

    async def set_temp(self, order: SetTemp) -> None:
        if not isinstance(order.chamber_c, UnsetType):
            raise not_supported(N_("This printer can't heat a chamber."))
        require_tools_of(order, _TOOLS)
        if not isinstance(order.tool_c, UnsetType):
            targets: JsonObject = {"tool0": order.tool_c}
            await self._api.post(TOOL, {"command": "target", "targets": targets})
        if not isinstance(order.bed_c, UnsetType):
            await self._api.post(BED, {"command": "target", "target": order.bed_c})

    async def _head(self, order: JsonObject) -> None:
        await self._api.post(HEAD, order)


async def cameras_of(api: PrusaLinkApi, base_url: str) -> list[Camera]:
    """In PrusaLink's order, the first of which is its default."""
    try:
        answer = await api.get("/api/v1/cameras")
    except NotFound:
        return []
    cameras: list[Camera] = []
    for reported in loose.items(answer, "camera_list")[:MAX_CAMERAS]:
        camera_id = loose.text(reported, "camera_id")
        if camera_id is None or loose.flag(reported, "connected") is False:
            continue
        name = loose.text(loose.obj(reported, "config"), "name") or "Webcam"
        target = f"/api/v1/cameras/{quote(camera_id, safe='')}/snap"
        cameras.append(PrusaLinkCamera(api, name, base_url, target))
    return cameras


class PrusaLinkCamera:
    """printers.port.Camera. target: of its photograph."""

    def __init__(self, api: PrusaLinkApi, name: str, base_url: str, target: str) -> None:
        self.entry = WebcamEntry(name=name, snapshot_url=f"{base_url}{target}")
        self._api = api
        self._target = target
        self.source: Hashable = self.entry

    async def snapshot(self) -> bytes | None:
        try:
            picture = await self._api.picture(self._target)
        except NotFound:
            raise no_picture(N_("it is not connected any more")) from None
        if not picture.startswith(JPEG_MAGIC):
            raise no_picture(N_("it has taken none yet"))
        return picture

    async def frames(self) -> AsyncIterator[bytes]:
        """Asked once a second, and given on when it is a new one."""
        last = b""
        while True:
            picture = await self.snapshot()
            if picture is not None and picture != last:
                last = picture
                yield picture
            await asyncio.sleep(POLL_S)
