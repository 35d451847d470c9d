"""The live view of a printer, for both protocols."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from printreach.printers import following
from printreach.printers.loose import Json
from printreach.printers.port import PrinterRefused
from printreach.printers.setup import PrinterSetup

Connected: TypeAlias = Callable[[], AbstractAsyncContextManager[AsyncIterator[Json]]]
"""Opens a connection, which gives what the printer says; PrinterRefused when it is lost."""


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
        async with self._connected() as messages:
            asking = asyncio.create_task(self._keep_asking())
            try:
                async for message in messages:
                    self._on_message(message)
            finally:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    async def _keep_asking(self) -> None:
        try:
            await self._ask()
        except PrinterRefused:
            return  # the reader of messages reports it too
