"""The live view of a Bambu Lab printer: its reports, and polling where they are incomplete."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State, Temps
from printreach.printers.following import UpdateSignal, keep_following
from printreach.printers.loose import Json
from printreach.printers.port import NOT_YET, PrinterRefused, Trouble, View
from printreach.printers.setup import PrinterSetup

from .api import BambuApi
from .clock_file import ClockFile
from .models import model_of
from .orders import GET_VERSION, PUSH_ALL
from .report import KnownState, with_message
from .sliced import NOTHING, SlicerFacts
from .states import state_of
from .stopwatch import Stopwatch, job_of, observe
from .translate import view_of

log = logging.getLogger(__name__)

PUSH_ALL_EVERY_S = 300.0
"""P1 and A1 printers are slowed down by more."""
ASK_AGAIN_S = 2.0
SILENCE_S = 8.0
FRESH_S = 0.5
"""Seconds between two views at least: their counters run on between two messages."""


class LiveView:
    """The live view of one printer.

    on_update: is awaited after each message. sliced: what the slicer said of the print in a report.
    """

    def __init__(self, setup: PrinterSetup, api: BambuApi) -> None:
        self.known = KnownState()
        self.is_restoring: Callable[[], bool] = lambda: False
        self.sliced: Callable[[Json], SlicerFacts] = lambda _report: NOTHING
        self.on_update: Callable[[], Awaitable[None]] | None = None
        self.on_lost: Callable[[], None] = lambda: None
        self._setup = setup
        self._api = api
        self._stopwatch: Stopwatch | None = None
        self._clock_file = ClockFile(setup.data_dir)
        self._trouble: Trouble | None = NOT_YET
        self._view: View | None = None
        self._view_at = 0.0
        self._asked_at: float | None = None
        self._updates = UpdateSignal()

    @property
    def view(self) -> View:
        if self._trouble is not None:
            return View(trouble=self._trouble)
        now = self._setup.steady_time()
        if self._view is None or now - self._view_at >= FRESH_S:
            stopwatch = self._stopwatch or Stopwatch()
            sliced = self.sliced(self.known.report)
            self._view = view_of(
                self.known, stopwatch, now, sliced, is_restoring=self.is_restoring()
            )
            self._view_at = now
        return self._view

    @property
    def state(self) -> State:
        """As the printer says."""
        return state_of(self.known.report)

    @property
    def temps(self) -> Temps:
        return self.view.job.current_print.temps

    @property
    def job(self) -> str:
        return job_of(self.known.report)

    async def run(self) -> None:
        """Follow until cancelled."""
        await keep_following(self._follow, self._on_lost, lambda: self.known, self._setup.uniform)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait for the printer to say what makes it so; False when it doesn't in time."""
        return await self._updates.wait_until(condition, seconds)

    async def _follow(self) -> None:
        """Raises PrinterRefused when the printer is lost."""
        async with self._api.connected() as messages:
            if not self.known.is_enough:
                sentence = f"The printer at {self._api.where} has not told its state yet."
                self._on_lost(PrinterRefused(CommandStatus.NOT_CONNECTED, sentence))
            asking = asyncio.create_task(self._ask())
            try:
                async for message in messages:
                    await self._on_message(message)
            finally:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    async def _ask(self) -> None:
        """Ask what the printer is and for its whole state; again where it reports only changes."""
        try:
            await self._ask_until_answered()
            if model_of(self.known.modules).tells_all:
                self._asked_at = None
            while True:
                await asyncio.sleep(self._due_in_s())
                self._asked_at = self._setup.steady_time()
                await self._api.send(PUSH_ALL)
                await self._api.send(GET_VERSION)  # its AMS units come and go
                if not self.known.is_enough:
                    await self._check_serial_number()
        except PrinterRefused as refused:
            log.info("the printer could not be asked: %s", refused.sentence)

    async def _check_serial_number(self) -> None:
        """Check the serial number of a printer that does not answer: it may be wrong."""
        if await self.wait_until(lambda: self.known.is_enough, SILENCE_S):
            return
        refused = await self._api.other_serial()
        if refused is not None:
            self._on_lost(refused)

    async def _ask_until_answered(self) -> None:
        """Messages may be lost while the printer starts."""
        await self._api.send(GET_VERSION)
        while self.known.is_enough and self._trouble is not None:
            await asyncio.sleep(ASK_AGAIN_S)
            await self._api.send(GET_VERSION)

    def _due_in_s(self) -> float:
        if self._asked_at is None:
            return 0.0
        return max(0.0, self._asked_at + PUSH_ALL_EVERY_S - self._setup.steady_time())

    async def _on_message(self, message: object) -> None:
        known = with_message(self.known, message)
        if known is self.known and self._trouble is None:
            return  # an answer to an order
        if self.known.is_enough and not known.is_enough:
            return  # nonsense; the state it would hide is not told again for minutes
        self.known = known
        if not known.is_enough:
            return
        now, unix_s = self._setup.steady_time(), self._setup.unix_time()
        if self._stopwatch is None:
            self._stopwatch = self._clock_file.load(known.report, unix_s)
        self._stopwatch = observe(self._stopwatch, known.report, self.state, now)
        self._clock_file.save(self._stopwatch, now, unix_s)
        self._trouble = self._view = None
        self._updates.tell()
        if self.on_update is not None:
            await self.on_update()

    def _on_lost(self, refused: PrinterRefused) -> None:
        status = CommandStatus(refused.status)
        self._trouble = Trouble(status=status, sentence=refused.sentence)
        self._view = None
        self.on_lost()
