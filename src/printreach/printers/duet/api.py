"""The port to a Duet, which firmware itself or DSF may serve."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from printreach.contract.commands import CommandStatus
from printreach.languages import N_
from printreach.printers.connecting import unreachable
from printreach.printers.http_api import NotFound
from printreach.printers.loose import Json
from printreach.printers.port import Download, PrinterRefused
from printreach.printers.setup import PrinterSetup

from .http import DuetHttp
from .sbc import sign_in_to_sbc
from .standalone import sign_in_to_board


class Duet(Protocol):
    """A board with which the agent has a session. Paths are the board's: `0:/gcodes/a.gcode`."""

    wants_size: bool
    """An upload without its size is refused."""

    async def model(self) -> Json:
        """Return the object model, at least the keys of model.KEYS."""
        ...

    async def order(self, lines: list[str]) -> None:
        """Have G-code carried out; returns when it is, or soon when it takes long.

        Raises PrinterRefused with the board's words for what it doesn't do.
        """
        ...

    async def listed(self, folder: str) -> list[Json]:
        """Entries with `type` (d or f), `name`, `size`, `date`. Raises NotFound."""
        ...

    async def file_info(self, path: str) -> Json:
        """Return what a file says of itself. Raises NotFound."""
        ...

    def open(self, path: str) -> AbstractAsyncContextManager[Download]:
        """Raises NotFound."""
        ...

    async def store(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> None:
        """Folders are made; a file of that name is replaced, but not before all of it is here."""
        ...

    async def remove(self, path: str) -> None:
        """Remove a file, or a folder that is empty. Raises NotFound."""
        ...

    async def leave(self) -> None:
        """End the session, of which a board has eight."""
        ...


async def sign_in(http: DuetHttp, setup: PrinterSetup) -> Duet:
    """Raises PrinterRefused: 785, 787 or 789.

    DSF is asked first: it answers what firmware is asked too, as if it were one, while firmware
    answers a page or 404 to what only DSF knows, and loses no session by it.
    """
    http.session_key = None
    try:
        sbc = await sign_in_to_sbc(http, setup)
        return sbc if sbc is not None else await sign_in_to_board(http, setup)
    except NotFound:
        raise unreachable(http.where, N_("there is a web server, and it is no Duet's")) from None
    except PrinterRefused as refused:
        if refused.status == CommandStatus.EXECUTION_FAILED:
            raise unreachable(http.where, refused.sentence.rstrip(".")) from None
        raise
