"""The part of the adapter that both protocols share: following, pausing, heating."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeAlias, TypeVar

from printreach.contract.commands import Extrude, MoveAxis, SetTemp
from printreach.contract.files import JsonObject
from printreach.contract.unset import UnsetType
from printreach.printers.loose import Json
from printreach.printers.port import (
    Files,
    PrinterRefused,
    View,
    not_supported,
    require_tools_of,
)
from printreach.printers.setup import PrinterSetup
from printreach.printers.smart_pauses import PausesSmartly, SmartPauses

from .live_view import LiveView
from .pause_plan import ElegooPausePlan, Orders

Connected: TypeAlias = Callable[[], AbstractAsyncContextManager[AsyncIterator[Json]]]
"""Opens a connection, which gives what the printer says; PrinterRefused when it is lost."""


class ElegooFiles(Files, Protocol):
    """Files over a separate connection."""

    async def close(self) -> None: ...


F = TypeVar("F", bound=ElegooFiles)


class ElegooPrinter(PausesSmartly, ABC, Generic[F]):
    """printers.port.Printer, without the commands that differ between the protocols."""

    def __init__(self, setup: PrinterSetup, connected: Connected, orders: Orders, files: F) -> None:
        self.files = files
        self._host = setup.host
        self._camera_hosts = setup.camera_hosts
        self._now = setup.steady_time
        self._connected = connected
        self._live_view = LiveView(self._follow, setup.uniform)
        plan = ElegooPausePlan(orders, self._live_view, setup.limits)
        self.restores = SmartPauses(setup.data_dir, plan)
        self._live_view.on_lost = self.restores.on_update

    @property
    def view(self) -> View:
        return self.restores.shown(self._live_view.view)

    async def run(self) -> None:
        try:
            await self._live_view.run()
        finally:
            await self.restores.close()
            await self.files.close()

    async def extrude(self, order: Extrude) -> None:  # noqa: ARG002  # in no case
        raise not_supported("extrude by hand")

    @abstractmethod
    async def move_axis(self, order: MoveAxis) -> None: ...

    @abstractmethod
    async def set_temp(self, order: SetTemp) -> None: ...

    # --- following --------------------------------------------------------------------------------

    @abstractmethod
    def _forget(self) -> None:
        """Forget everything that is known of the printer, because a connection begins."""

    @abstractmethod
    def _on_message(self, message: Json) -> None:
        """Make a view of it, and tell `_live`."""

    @abstractmethod
    async def _ask(self) -> None:
        """Ask for what the printer doesn't tell by itself, until cancelled."""

    async def _follow(self) -> None:
        """Raises PrinterRefused when the printer is lost."""
        self._forget()
        async with self._connected() as messages:
            asking = asyncio.create_task(self._keep_asking())
            try:
                async for message in messages:
                    self._on_message(message)
                    self.restores.on_update()
            finally:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    async def _keep_asking(self) -> None:
        try:
            await self._ask()
        except PrinterRefused:
            return  # the live view reports it too


def targets_of(order: SetTemp, *, hotend: str, bed: str) -> JsonObject:
    """Return the targets by the protocol's names for the heaters. Raises PrinterRefused."""
    if not isinstance(order.chamber_c, UnsetType):
        raise not_supported("heat a chamber")
    require_tools_of(order, (0,))
    targets: JsonObject = {}
    if not isinstance(order.tool_c, UnsetType):
        targets[hotend] = order.tool_c
    if not isinstance(order.bed_c, UnsetType):
        targets[bed] = order.bed_c
    return targets
