"""The simulated printer's HTTP API, and its live view over a WebSocket."""

from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import quote

from printreach.contract.files import FileEntry
from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.connecting import unreachable
from printreach.printers.following import LiveView
from printreach.printers.http_api import HttpApi
from printreach.printers.setup import PrinterSetup
from printreach.printers.websocket import WebSocketFailed, websocket
from printreach.wire.heads import Headers

from .translate import entries_of, view_of

VERSION = "Simulated printer"
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

    async def files(self) -> list[FileEntry]:
        return entries_of(await self.get("/api/files"), "Files")

    async def save(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> int:
        """Return how many bytes arrived."""
        answer = await self.upload("PUT", target_of(path), _G_CODE, size, chunks)
        return loose.size(loose.parsed(answer.body), "SizeBytes") or 0


def target_of(path: str) -> str:
    return f"/api/files/{quote(path, safe='/')}"


class SimulatedView(LiveView):
    """print_id: of the current or latest print."""

    def __init__(self, setup: PrinterSetup, api: Api) -> None:
        super().__init__(setup.uniform)
        self._api = api
        self.print_id = ""

    async def _follow(self) -> None:
        async for status in self._api.statuses():
            self.print_id = loose.text(status, "PrintId") or ""
            self._show(view_of(status, VERSION))
