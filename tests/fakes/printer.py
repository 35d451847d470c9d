"""A printer that does nothing but what a test tells it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import reduce
from operator import or_

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
from printreach.contract.files import FileDetails, FileDone, FileEntry, FileRoot, JsonObject
from printreach.contract.status import Feature, JobStatus, Light, State
from printreach.printers.port import (
    Camera,
    Download,
    MqttEndpoint,
    PrinterRefused,
    Trouble,
    View,
    no_such_file,
)

EVERY_FEATURE = reduce(or_, Feature)
EVERY_FEATURE_BUT_LEVELS = EVERY_FEATURE & ~Feature.SPEED_LEVELS
"""Of a printer whose speed is a percentage."""
JOB = JobStatus(state=State.IDLE, lights=[Light(name="light", on=False)])


class ScriptedPrinter:
    """printers.port.Printer and its Files.

    done: orders that were carried out, in order. refusal: raised by every order instead; may be
    any exception. is_silent: orders are never answered. details_told: of any file. cameras_listed:
    how often they were asked for; a silent printer never lists them. webcams: what it lists.
    thumbnail_in_file: whichever it is.
    """

    mqtt: MqttEndpoint | None = None
    roots = (FileRoot.GCODE,)

    def __init__(self) -> None:
        self.view = View(trouble=None, job=JOB, features=EVERY_FEATURE, platform_version="1")
        self.done: list[object] = []
        self.refusal: Exception | None = None
        self.is_silent = False
        self.details_told: JsonObject = {}
        self.cameras_listed = 0
        self.webcams: list[Camera] = []
        self.thumbnail_in_file: bytes | None = None

    # --- what a test does -------------------------------------------------------------------------

    def be(self, state: State) -> None:
        self.view = replace(self.view, job=JobStatus(state=state, lights=JOB.lights))

    def lack(self, feature: Feature) -> None:
        self.view = replace(self.view, features=self.view.features & ~feature)

    def be_in_trouble(self, status: CommandStatus) -> None:
        trouble = Trouble(status=status, sentence="The printer at 10.0.0.5 is not to be had.")
        self.view = replace(self.view, trouble=trouble)

    # --- Printer ----------------------------------------------------------------------------------

    @property
    def files(self) -> "ScriptedPrinter":
        return self

    async def run(self) -> None: ...

    def on_change(self, callback: Callable[[], None]) -> None:
        """Callbacks are never called: the tracker polls once a second besides."""

    async def cameras(self) -> list[Camera]:
        self.cameras_listed += 1
        if self.is_silent:
            await asyncio.Event().wait()
        return self.webcams

    async def pause(self, order: Pause) -> None:
        await self._do(order)

    async def resume(self) -> None:
        await self._do("resume")

    async def cancel(self) -> None:
        await self._do("cancel")

    async def start(self, order: StartPrint) -> FileDone:
        await self._do(order)
        return FileDone(virtual_path=order.path, platform_path=order.path)

    async def set_light(self, order: SetLight) -> None:
        await self._do(order)

    async def move_axis(self, order: MoveAxis) -> None:
        await self._do(order)

    async def home(self, order: Home) -> None:
        await self._do("home" if order == Home() else order)

    async def adjust(self, order: Adjust) -> None:
        await self._do(order)

    async def emergency_stop(self) -> None:
        await self._do("emergency stop")

    async def restart_firmware(self) -> None:
        await self._do("restart firmware")

    async def extrude(self, order: Extrude) -> None:
        await self._do(order)

    async def set_temp(self, order: SetTemp) -> None:
        await self._do(order)

    # --- Files ------------------------------------------------------------------------------------

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        return []

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        del path, size_px
        return self.thumbnail_in_file

    async def details(self, path: str) -> FileDetails:
        return FileDetails(
            virtual_path=path,
            platform_path=path,
            file_name=path,
            platform_details=self.details_told,
        )

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        if not path.endswith(".gcode"):
            raise no_such_file(path)
        if self.refusal is not None:
            raise self.refusal
        yield Download(size=3, chunks=_g28())

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        data = b"".join([chunk async for chunk in chunks])
        await self._do((path, data))
        return FileDone(virtual_path=path, platform_path=path, size_bytes=len(data))

    async def delete(self, path: str) -> FileDone:
        await self._do(path)
        return FileDone(virtual_path=path, platform_path=path)

    async def _do(self, order: object) -> None:
        if self.is_silent:
            await asyncio.Event().wait()
        if self.refusal is not None:
            raise self.refusal
        self.done.append(order)


async def _g28() -> AsyncIterator[bytes]:
    yield b"G28"


def refusing(status: CommandStatus) -> PrinterRefused:
    """Return the exception of an adapter whose printer refuses."""
    return PrinterRefused(status, "The printer said no.")
