"""The part of the adapter that both protocols share: following, pausing, camera, temperatures.

The camera films only after it was told to, and then names its address.
"""

from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Generic, TypeAlias, TypeVar, cast

from printreach.contract.commands import Extrude, SetTemp
from printreach.contract.files import JsonObject
from printreach.contract.status import WebcamEntry
from printreach.contract.unset import UnsetType
from printreach.languages import N_
from printreach.printers import following
from printreach.printers.camera_addresses import CameraHosts, candidates
from printreach.printers.http_camera import HttpCamera
from printreach.printers.loose import Json
from printreach.printers.pausing_printer import PausingPrinter
from printreach.printers.port import PrinterRefused, not_supported, require_tools_of
from printreach.printers.setup import PrinterSetup

from .files import ElegooFiles
from .pause_plan import ElegooPausePlan, Orders

Connected: TypeAlias = Callable[[], AbstractAsyncContextManager[AsyncIterator[Json]]]
"""Opens a connection, which gives what the printer says; PrinterRefused when it is lost."""

NAME = "Camera"


class LiveView(following.LiveView):
    """A printer's view. print_id: of the print last reported, "" where it has none."""

    def __init__(self, setup: PrinterSetup, connected: Connected) -> None:
        super().__init__(setup.uniform)
        self.print_id = ""
        self._now = setup.steady_time
        self._connected = connected

    @abstractmethod
    def _forget(self) -> None:
        """Forget everything that is known of the printer, because a connection begins."""

    @abstractmethod
    def _on_message(self, message: Json) -> None:
        """Add it to what is known, and show that."""

    @abstractmethod
    async def _ask(self) -> None:
        """Ask for what the printer doesn't tell by itself, until cancelled."""

    async def _follow(self) -> None:
        self._forget()
        async with self._connected() as messages, following.beside(self._keep_asking()):
            async for message in messages:
                self._on_message(message)

    async def _keep_asking(self) -> None:
        try:
            await self._ask()
        except PrinterRefused:
            return  # the reader of messages reports it too


F = TypeVar("F", bound=ElegooFiles)
V = TypeVar("V", bound=LiveView)


class ElegooPrinter(PausingPrinter[V], Generic[F, V]):
    """printers.port.Printer, without the commands that differ between the protocols."""

    def __init__(self, setup: PrinterSetup, live_view: V, orders: Orders, files: F) -> None:
        super().__init__(setup, live_view, ElegooPausePlan(orders, live_view, setup.limits))
        self.files = files
        self._host = setup.host
        self._camera_hosts = setup.camera_hosts

    async def _close(self) -> None:
        await self.files.close()

    async def extrude(self, order: Extrude) -> None:  # noqa: ARG002  # in no case
        raise not_supported(N_("This printer can't extrude by hand."))


def targets_of(order: SetTemp, *, hotend: str, bed: str) -> JsonObject:
    """Return the targets by the protocol's names for the heaters. Raises PrinterRefused."""
    if not isinstance(order.chamber_c, UnsetType):
        raise not_supported(N_("This printer can't heat a chamber."))
    require_tools_of(order, (0,))
    targets: JsonObject = {}
    if not isinstance(order.tool_c, UnsetType):
        targets[hotend] = order.tool_c
    if not isinstance(order.bed_c, UnsetType):
        targets[bed] = order.bed_c
    return targets


class SwitchedCamera:
    """printers.port.Camera. turn_on: the address that the printer tells, or None.

    usual_url: where the pictures are when it tells none. hosts: where they may be at all.
    """

    def __init__(
        self,
        host: str,
        hosts: CameraHosts,
        usual_url: str,
        turn_on: Callable[[], Awaitable[str | None]],
    ) -> None:
        self._host = host
        self._hosts = hosts
        self._usual_url = usual_url
        self._turn_on = turn_on
        self.entry = self._at(usual_url).entry
        self.source: Hashable = (self._host, self._usual_url)

    async def snapshot(self) -> bytes | None:
        """There are only streams."""
        return None

    async def frames(self) -> AsyncIterator[bytes]:
        camera = self._at(self._found(await self._turn_on()))
        frames = cast("AsyncGenerator[bytes, None]", camera.frames())
        async with aclosing(frames):
            async for frame in frames:
                yield frame

    def _found(self, reported: str | None) -> str:
        """Complete the address; the printer may leave out the scheme."""
        if reported is None:
            return self._usual_url
        url = reported if "://" in reported else f"http://{reported}"
        return next(iter(candidates(url, self._host, 80, tls=False)), self._usual_url)

    def _at(self, url: str) -> HttpCamera:
        return HttpCamera(
            WebcamEntry(name=NAME), snapshot_url=None, stream_url=url, hosts=self._hosts
        )
