"""The live view of a Duet: a session in which the object model is polled."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from printreach.printers import following
from printreach.printers.loose import Json
from printreach.printers.port import NOT_YET, PrinterRefused, failed
from printreach.printers.setup import PrinterSetup

from . import gcode
from . import model as duet
from .api import Duet, sign_in
from .http import DuetHttp, MalformedAnswer
from .known_state import ERRORS, KnownState, after_gap, with_model
from .translate import view_of

POLL_S = 0.8
MAX_GAP_S = 15.0
"""The longest gap after which a print's end is still derived from its state before."""
GARBLED_TRIES, GARBLED_S = 3, 0.1


class LiveView(following.LiveView):
    """The live view of one Duet."""

    def __init__(self, http: DuetHttp, setup: PrinterSetup) -> None:
        super().__init__(setup.uniform)
        self.known = KnownState()
        self._http = http
        self._setup = setup
        self._board: Duet | None = None
        self._seen_at = 0.0
        self._is_wanted = asyncio.Event()

    def board(self) -> Duet:
        """Raises PrinterRefused while there is no session."""
        if self._board is None:
            trouble = self.view.trouble or NOT_YET
            raise PrinterRefused(trouble.status, trouble.sentence)
        return self._board

    async def order(self, lines: list[str]) -> None:
        """Have it done, and look at once what came of it.

        A halted board takes no order but a restart, and doesn't say so.
        """
        if duet.status(self.known.model) == "halted" and lines != gcode.RESTART:
            raise failed(ERRORS["halted"])
        try:
            await self.board().order(lines)
        finally:
            self._is_wanted.set()

    def expect_cancel(self, expected: bool) -> None:
        """Treat the next pause as part of a cancellation."""
        self.known = replace(self.known, is_cancelling=expected)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait as usual; the board is polled at once, and again after each answer."""

        def is_met() -> bool:
            self._is_wanted.set()
            return condition()

        return await super().wait_until(is_met, seconds)

    async def close(self) -> None:
        if self._board is not None:
            await self._board.leave()

    async def _follow(self) -> None:
        self._board = board = await sign_in(self._http, self._setup)
        try:
            await self._poll(board)
        except PrinterRefused as refused:
            self._on_lost(refused)
            # Given back where that can still be said: the board has few sessions.
            await board.leave()

    async def _poll(self, board: Duet) -> None:
        while True:
            self._is_wanted.clear()
            self._on_model(await self._poll_once(board))
            try:
                async with asyncio.timeout(POLL_S):
                    await self._is_wanted.wait()
            except TimeoutError:
                pass  # the next poll is due

    async def _poll_once(self, board: Duet) -> Json:
        """Poll the model. A garbled answer is tried again; several in a row are a failure."""
        for _ in range(GARBLED_TRIES - 1):
            try:
                return await board.model()
            except MalformedAnswer:
                await asyncio.sleep(GARBLED_S)
        return await board.model()

    def _on_model(self, model: Json) -> None:
        now = self._setup.steady_time()
        if now - self._seen_at > MAX_GAP_S:
            self.known = after_gap(self.known)
        self._seen_at = now
        self.known = with_model(self.known, model)
        self._show(view_of(self.known, self._http.where))

    def _on_lost(self, refused: PrinterRefused) -> None:
        self._board = None
        super()._on_lost(refused)
